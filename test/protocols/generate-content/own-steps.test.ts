/** Steps of the vendor's own tools within a conversation. Traps T33, T38. */
import { expect, it } from "vitest";
import { collect } from "../../../src/protocols/canonical/collect.ts";
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

it("CONV-701: what is said before and behind a step of the vendor's own are two texts, whole and streamed", () => {
  const parts = [
    { text: "I count:" },
    { executableCode: { language: "PYTHON", code: "print(1)" } },
    { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1" } },
    { text: "It" },
    { text: " is 1." },
  ];
  const decoder = generateContentCodec.decodeStream();
  const chunks = parts.map((part) => ({ candidates: [{ content: { parts: [part] } }] }));
  const last = { candidates: [{ finishReason: "STOP" }] };
  const events = [...chunks, last].flatMap((data) => decoder.push({ data: JSON.stringify(data) }));
  const { content } = collect([...events, ...decoder.end({ kind: "complete" })]);
  expect(content).toEqual([
    { type: "text", text: "I count:" },
    { type: "text", text: "It is 1." },
  ]);
});
