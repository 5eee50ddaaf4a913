/** Parts with several kinds of data. Google refuses them; test/conversion/losses.test.ts has those that are refused here too. T33. */
import { expect, it } from "vitest";
import { generateContentCodec } from "../../../src/protocols/generate-content/index.ts";

it("T33: words beside other data in one part are read too: nothing of the caller is lost", () => {
  const part = { text: "Look", inlineData: { mimeType: "image/png", data: "AAAA" } };
  const body = { contents: [{ role: "user", parts: [part] }] };
  const address = { model: "acme/talk", stream: false };
  const { messages, native } = generateContentCodec.decodeRequest(body, address);
  expect(messages[0]!.content).toMatchObject([
    { type: "text", text: "Look" },
    { type: "media", media: "image" },
  ]);
  expect(native).toEqual([]);
});
