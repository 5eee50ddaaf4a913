/** Lists of callers and vendors are longer than JavaScript lets a call have arguments (about 120,000). */
import { expect, it } from "vitest";
import { collectFrames } from "../../src/protocols/collect-frames.ts";
import { codecs, type JsonObject } from "../../src/protocols/index.ts";

const length = 150_000;
const texts = Array.from({ length }, () => ({ type: "text", text: "a" }));
const unknown = Object.fromEntries(Array.from({ length }, (_, at) => [`u${at}`, 1]));
const address = { model: "acme/x", stream: false };
const turn = { role: "user", content: "Hi" };
const asked = { type: "function", function: { name: "look", ...unknown } };
const named = { type: "function", name: "look", ...unknown };

const requests: readonly (readonly [keyof typeof codecs, string, JsonObject])[] = [
  ["chat", "parts of an assistant", { messages: [turn, { role: "assistant", content: texts }] }],
  [
    "chat",
    "members of an allowed tool",
    {
      messages: [turn],
      tool_choice: { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [asked] } },
    },
  ],
  [
    "responses",
    "members of an allowed tool",
    { input: "Hi", tool_choice: { type: "allowed_tools", mode: "auto", tools: [named] } },
  ],
  [
    "responses",
    "members of a tool in a namespace",
    { input: "Hi", tools: [{ type: "namespace", name: "files", tools: [named] }] },
  ],
  ["chat", "parts of a system message", { messages: [{ role: "system", content: texts }, turn] }],
];

it.each(requests)("a call of %s may have very many %s", (protocol, _what, body) => {
  const request = codecs[protocol].decodeRequest({ ...body, model: address.model }, address);
  const sent = codecs.messages.encodeRequest(request, "claude");
  expect(request.native.length + JSON.stringify(sent).length).toBeGreaterThan(length);
});

it("a frame of generateContent may have very many texts", () => {
  const parts = Array.from({ length: 60_000 }, (_, at) => ({ text: "a", thought: at % 2 === 0 }));
  const candidates = [{ content: { parts }, finishReason: "STOP" }];
  const frames = [{ data: JSON.stringify({ candidates }) }];
  expect(collectFrames(codecs.generate_content, frames)?.content).toHaveLength(parts.length);
});
