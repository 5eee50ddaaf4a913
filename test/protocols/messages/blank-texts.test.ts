/** Blank texts in a history, on the direct route: Claude refuses the request, other vendors give them. Trap T25. */
import { expect, it } from "vitest";
import type { Json, JsonObject } from "../../../src/protocols/canonical/request.ts";
import { messagesCodec } from "../../../src/protocols/messages/index.ts";

const sent = (body: JsonObject, model = "claude-opus-4-8") =>
  messagesCodec.direct.request({ model: "a/b", max_tokens: 9, ...body }, { model, stream: false });
const text = (value: string, more: JsonObject = {}): JsonObject => ({
  type: "text",
  text: value,
  ...more,
});
const call = { type: "tool_use", id: "toolu_1", name: "look", input: {} };
const result = (content: Json, more: JsonObject = {}): JsonObject => ({
  type: "tool_result",
  tool_use_id: "toolu_1",
  content,
  ...more,
});
const blank = text("", { cache_control: { type: "ephemeral" } });
const user = (...content: Json[]): JsonObject => ({ role: "user", content });
const assistant = (...content: Json[]): JsonObject => ({ role: "assistant", content });
const nothing = text("(no content)");

it("T25: go without a report, and leave no message empty", () => {
  const body = {
    system: [text(" "), text("Be brief.")],
    messages: [
      user(text("Look.")),
      assistant(blank, call),
      user(result([text("\n"), text("seen")]), text("\n")),
      assistant(text("\n\n")),
      user(text("Well?")),
    ],
  };
  const before = structuredClone(body);
  const { body: kept, notes } = sent(body);
  expect(kept).toMatchObject({
    system: [text("Be brief.")],
    messages: [
      body.messages[0],
      assistant(call),
      user(result([text("seen")])),
      assistant(nothing),
      body.messages[4],
    ],
  });
  expect(notes).toEqual([]);
  expect(body).toEqual(before);
});

it("T25: leave a result empty, but no error, and no empty system prompt", () => {
  const messages = (content: Json, more?: JsonObject) => [
    user(text("Look.")),
    assistant(call),
    user(result(content, more)),
  ];
  const empty = sent({ system: [blank], messages: messages([blank]) }).body;
  expect(empty).not.toHaveProperty("system");
  expect(empty["messages"]).toEqual(messages([]));
  const error = { is_error: true };
  expect(sent({ messages: messages([blank], error) }).body["messages"]).toEqual(
    messages([nothing], error),
  );
});

it("T25 TXT-07: stay at other vendors, and nothing is copied if there are none", () => {
  const messages = [user(text("Hi")), assistant(blank, call)];
  expect(sent({ messages }, "MiniMax-M2.7").body["messages"]).toBe(messages);
  const full = [user(text("Hi")), { role: "assistant", content: "" }];
  expect(sent({ messages: full }).body["messages"]).toBe(full);
});

const thinking = { type: "thinking", thinking: "Hm.", signature: "EqoBCkgIBxAB" };

it.each<[string, Json, Json]>([
  ["an empty text", "", nothing["text"]!],
  ["a blank text", "\n\n", nothing["text"]!],
  ["nothing", [], [nothing]],
  ["thinking", [thinking], [thinking, nothing]],
  ["thinking and a blank text", [thinking, blank], [thinking, nothing]],
  ["hidden thinking", [text("So"), { type: "redacted_thinking", data: "a" }], expect.anything()],
])("T25: an earlier answer of %s says that it has no content", (_what, content, kept) => {
  const answer = { role: "assistant", content };
  const messages = [user(text("Hi")), answer, user(text("Well?"))];
  const { body, notes } = sent({ messages });
  expect(body["messages"]).toEqual([messages[0], { ...answer, content: kept }, messages[2]]);
  expect(body["messages"]).not.toEqual(messages);
  expect(notes).toEqual([]);
});

it("T25: an answer to continue, and one in two turns, stay", () => {
  const begun = [user(text("Hi")), { role: "assistant", content: "" }];
  expect(sent({ messages: begun }).body["messages"]).toBe(begun);
  const halves = [user(text("Look.")), assistant(thinking), assistant(call), user(result("seen"))];
  expect(sent({ messages: halves }).body["messages"]).toBe(halves);
});
