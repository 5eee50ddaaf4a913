// Files of text within a request: a model reads all of them, so that what is set aside grows with them. BILL-23.
import { expect, it } from "vitest";
import { codecs, type ProtocolName } from "../../src/protocols/index.ts";
import type { JsonObject } from "../../src/protocols/canonical/request.ts";

const words = "Hello. ".repeat(10_000);
const data = Buffer.from(words).toString("base64");

const file = (type: string) => ({ filename: "a", file_data: `data:${type};base64,${data}` });
const bodies: Readonly<Record<ProtocolName, (type: string) => JsonObject>> = {
  chat: (type) => ({ messages: [{ role: "user", content: [{ type: "file", file: file(type) }] }] }),
  responses: (type) => ({
    input: [{ role: "user", content: [{ type: "input_file", ...file(type) }] }],
  }),
  messages: (type) => ({
    messages: [
      {
        role: "user",
        content: [{ type: "document", source: { type: "base64", media_type: type, data } }],
      },
    ],
  }),
  generate_content: (type) => ({
    contents: [{ role: "user", parts: [{ inlineData: { mimeType: type, data } }] }],
  }),
};
const protocols = Object.keys(bodies) as ProtocolName[];
const factsOf = (protocol: ProtocolName, type: string) =>
  codecs[protocol].direct.facts(bodies[protocol](type));

it.each(protocols)("BILL-23: a file of text counts as its text does: %s", (protocol) => {
  for (const type of ["text/plain", "TEXT/CSV; charset=utf-8", "application/json"]) {
    const { inputCharacters, inputMedia } = factsOf(protocol, type);
    expect(inputMedia).toBe(1);
    expect(inputCharacters).toBeGreaterThan(words.length - 10);
    expect(inputCharacters).toBeLessThan(words.length + 200);
  }
});

it.each(protocols)("a picture counts as one, whatever its bytes: %s", (protocol) => {
  for (const type of ["image/png", "application/pdf", "application/zip", "application/shell"]) {
    const { inputCharacters, inputMedia } = factsOf(protocol, type);
    expect(inputMedia).toBe(1);
    expect(inputCharacters).toBeLessThan(200);
  }
});

it("BILL-23: a source hides no text beside it", () => {
  const content = [{ type: "text", text: words, source: { type: "base64", data: "" } }];
  const { inputCharacters } = codecs.messages.direct.facts({
    messages: [{ role: "user", content }],
  });
  expect(inputCharacters).toBeGreaterThan(words.length);
});
