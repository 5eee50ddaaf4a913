/** Steps of the vendor's own tools within a conversation. Traps T33, T38. */
import { expect, it } from "vitest";
import { generateContentCodec } from "../../../src/protocols/generate-content/index.ts";

it("T33 T38: a step of the vendor's own tool stays one beside a signature", () => {
  const step = {
    executableCode: { language: "PYTHON", code: "print(1)" },
    thoughtSignature: "c2ln",
  };
  const contents = [
    { role: "user", parts: [{ text: "Hi" }] },
    { role: "model", parts: [step, { text: "1" }] },
  ];
  const { native } = generateContentCodec.decodeRequest(
    { contents },
    { model: "acme/talk", stream: false },
  );
  expect(native).toEqual([{ param: "contents[1].parts[0]", value: step }]);
});
