/**
 * Earlier calls whose arguments are not a JSON object, from responses to chat: most upstreams refuse such a conversation, and every later
 * request repeats the call. Trap T3.
 */
import { expect, it } from "vitest";
import { routeOf } from "./route.ts";
import { at } from "../rows/protocols.ts";

const body = (call: object) => ({
  model: "acme/x",
  input: [
    { role: "user", content: "Where?" },
    { call_id: "c1", name: "look", ...call },
    { type: "function_call_output", call_id: "c1", output: "Not executed." },
    { role: "user", content: "Go on." },
  ],
});

it.each([
  ["cut", '{"value": ', '{"arguments":"{\\"value\\": "}'],
  ["followed by more", '{"a":1}{"b":2}', '{"arguments":"{\\"a\\":1}{\\"b\\":2}"}'],
  ["a list", "[]", '{"arguments":"[]"}'],
  ["null", "null", "{}"],
  ["empty", "", "{}"],
  ["an object, which stays as it is", ' { "a": 1.0, "a": 2 }', ' { "a": 1.0, "a": 2 }'],
])("T3: arguments that are %s", (_, written, sent) => {
  const call = { type: "function_call", arguments: written };
  const { body: up, notes } = routeOf("responses", "chat", body(call), {});
  expect(at(up, "messages", 1, "tool_calls", 0, "function", "arguments")).toBe(sent);
  expect(notes).toEqual([]);
});

it("T3: the input of a custom tool is any text", () => {
  const call = { type: "custom_tool_call", input: '{"value": ' };
  const { body: up } = routeOf("responses", "chat", body(call), {});
  const [, turn] = up["messages"] as object[];
  expect(JSON.parse(at(turn, "tool_calls", 0, "function", "arguments") as string)).toEqual({
    input: '{"value": ',
  });
});
