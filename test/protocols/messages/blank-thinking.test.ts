/** Earlier answers at DeepSeek, which refuses a conversation with tools if one has no thinking. Traps T39, T41. */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/protocols/canonical/request.ts";
import { messagesCodec } from "../../../src/protocols/messages/index.ts";

const { direct } = messagesCodec;
const blank = { type: "thinking", thinking: " ", signature: "" };
const marked = { type: "thinking", thinking: "Hm.", signature: "gw_unsigned" };
const call = { type: "tool_use", id: "toolu_1", name: "look", input: {} };
const result = { type: "tool_result", tool_use_id: "toolu_1", content: "there" };
const text = { type: "text", text: "It is there." };

const messages = [
  { role: "user", content: "Where?" },
  { role: "assistant", content: [call] },
  { role: "user", content: [result] },
  { role: "assistant", content: "It is there." },
  { role: "user", content: "Sure?" },
  { role: "assistant", content: [marked, text] },
  { role: "user", content: "Really?" },
];
const sentTo = (model: string, more: JsonObject = {}) => {
  const body: JsonObject = { model: "acme/talk", max_tokens: 100, messages, ...more };
  const before = structuredClone(body);
  const { body: sent, notes } = direct.request(body, { model, stream: true });
  expect(body).toEqual(before);
  return { sent: sent["messages"] as JsonObject[], params: notes.map(({ param }) => param) };
};

describe("a conversation with calls that other vendors began", () => {
  it.each(["deepseek-v4-pro", "deepseek-ai/DeepSeek-V4-Flash"])(
    "T41: has thinking in each answer at %s, the one of another vendor or a blank",
    (model) => {
      const { sent, params } = sentTo(model);
      const answers = sent.filter(({ role }) => role === "assistant");
      expect(answers.map(({ content }) => content)).toEqual([
        [blank, call],
        [blank, text],
        [marked, text],
      ]);
      expect(params).toEqual([]);
    },
  );

  it("T41: has the blank from the first answer on if tools are offered, so that a prompt cache still matches", () => {
    const tools = [{ name: "look", input_schema: { type: "object", properties: {} } }];
    const begun = [messages[0]!, messages[3]!, messages[4]!];
    const { sent } = sentTo("deepseek-v4-pro", { messages: begun, tools });
    expect(sent[1]).toEqual({ role: "assistant", content: [blank, text] });
    expect(sentTo("deepseek-v4-pro", { messages: begun }).sent).toEqual(begun);
  });

  it("T39: gets no thinking if that is off, and no blank at other models", () => {
    const own = [...messages.slice(0, 5), { role: "assistant", content: [text] }, messages[6]];
    const off = sentTo("deepseek-v4-pro", { thinking: { type: "disabled" } });
    for (const { sent, params } of [off, sentTo("glm-5"), sentTo("claude-opus-4-8")])
      expect([sent, params]).toEqual([own, ["messages.content.thinking"]]);
  });
});
