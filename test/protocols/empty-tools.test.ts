/** Agents that sum up a conversation send no tools: vendors refuse an empty list of them, and a choice among none. */
import { expect, it } from "vitest";
import type { JsonObject } from "../../src/protocols/canonical/request.ts";
import { chatCodec } from "../../src/protocols/chat/index.ts";
import { responsesCodec } from "../../src/protocols/responses/index.ts";

const upstream = { model: "m", stream: false };
const chat = (extra: JsonObject): JsonObject =>
  chatCodec.direct.request({ model: "a", messages: [], ...extra }, upstream).body;
const responses = (extra: JsonObject): JsonObject =>
  responsesCodec.direct.request({ model: "a", input: "Hi", ...extra }, upstream).body;

it("TXT-07: a compaction of Codex goes to xAI without its empty list of tools and its choice", () => {
  const sent = responses({ tools: [], tool_choice: "auto", parallel_tool_calls: false });
  expect(sent).toEqual({ model: "m", input: "Hi" });
});

it("TXT-07: a stored prompt may have the tools, and a forbidden call stays forbidden", () => {
  const stored = { prompt: { id: "pmpt_1" }, tools: [], tool_choice: "auto" };
  expect(responses(stored)).toMatchObject(stored);
  expect(responses({ tools: [], tool_choice: "none" })).toMatchObject({ tool_choice: "none" });
});

it("TXT-07: a chat request goes without an empty list of tools, and what has no effect without tools", () => {
  const left = { model: "m", messages: [] };
  expect(chat({ tools: [], tool_choice: "auto", parallel_tool_calls: true })).toEqual(left);
  expect(chat({ tools: [] })).toEqual(left);
  expect(chat({ tool_choice: "none" })).toEqual(left);
});

it.each(["required", { type: "function", function: { name: "f" } }])(
  "TXT-20: a choice of a tool that is not there is left for the vendor to refuse: %o",
  (choice) => {
    expect(chat({ tools: [], tool_choice: choice })).toMatchObject({ tool_choice: choice });
    expect(responses({ tools: [], tool_choice: choice })).toMatchObject({ tool_choice: choice });
  },
);

it("TXT-07: tools and their choice are not touched", () => {
  const tools = [{ type: "function", function: { name: "f" } }];
  const asked = { tools, tool_choice: "auto", parallel_tool_calls: true };
  expect(chat(asked)).toMatchObject(asked);
  expect(responses(asked)).toMatchObject(asked);
});
