/** System turns within a conversation, as Claude Code sends them, on the direct route to models that refuse them. TXT-07, CONV-401. */
import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../../src/protocols/canonical/request.ts";
import { messagesCodec } from "../../../src/protocols/messages/index.ts";

const user: JsonObject = { role: "user", content: "Hi" };
const result: JsonObject = {
  role: "user",
  content: [{ type: "tool_result", tool_use_id: "t1", content: "seen" }],
};
const sent = (model: string, ...messages: Json[]) => {
  const body: JsonObject = { model: "acme/x", max_tokens: 9, messages };
  messagesCodec.direct.validate(body);
  return messagesCodec.direct.request(body, { model, stream: false });
};
const system = (content: Json, more: JsonObject = {}): JsonObject => ({
  role: "system",
  content,
  ...more,
});

describe("a system turn within a conversation", () => {
  const marker = { cache_control: { type: "ephemeral" } };
  const said = [
    user,
    system("Be brief."),
    result,
    system([{ type: "text", text: "Now.", ...marker }]),
  ];

  it.each([
    "claude-sonnet-4-6",
    "claude-haiku-4-5-20251001",
    "claude-opus-4-20250514",
    "claude-opus-4-7",
    "anthropic/claude-opus-4.6",
    "claude-3-7-sonnet-latest",
    "us.anthropic.claude-opus-4-1-20250805-v1:0",
    "MiniMax-M2.7",
  ])("CONV-401: is a marked turn of the user for %s, which refuses it", (model) => {
    const { body, notes } = sent(model, ...said);
    const reminder = (text: string) => `<system-reminder>\n${text}\n</system-reminder>`;
    expect(body["messages"]).toEqual([
      user,
      { role: "user", content: reminder("Be brief.") },
      result,
      { role: "user", content: [{ type: "text", text: reminder("Now."), ...marker }] },
    ]);
    expect(notes).toMatchObject([{ param: "messages", kind: "rewritten" }]);
  });

  it.each([
    "claude-opus-4-8",
    "anthropic.claude-opus-4-8",
    "claude-opus-4.8",
    "claude-opus-5-5",
    "claude-sonnet-5",
    "claude-fable-5-1",
    "glm-5.3",
    "kimi-k3",
  ])("TXT-07: is unchanged for %s", (model) => {
    expect(sent(model, ...said)).toMatchObject({ body: { messages: said }, notes: [] });
  });

  it("CONV-401: keeps a mark, is left out if it is blank, or valid only until the next turn of the user", () => {
    const marked = "<system-reminder>Short.</system-reminder>";
    const until = { clear_at: "next_user_message" };
    const turns = [user, system(marked), system(" "), system("Gone.", until), user];
    const { body } = sent("claude-opus-4-6", ...turns, system("Last.", until));
    expect(body["messages"]).toEqual([
      user,
      { role: "user", content: marked },
      user,
      { role: "user", content: "<system-reminder>\nLast.\n</system-reminder>" },
    ]);
  });

  it("TXT-07: stays if it changes the effort or tools, for which the vendor has its own words", () => {
    const effort = system([], { output_config: { effort: "low" } });
    const tools = system([
      { type: "tool_removal", tool: { type: "tool_reference", name: "look" } },
    ]);
    const { body, notes } = sent("claude-opus-4-6", user, effort, tools);
    expect(body["messages"]).toEqual([user, effort, tools]);
    expect(notes).toEqual([]);
  });

  it("T39: is left out without hiding a tool loop that another vendor began", () => {
    const { body, notes } = messagesCodec.direct.request(
      {
        model: "acme/x",
        max_tokens: 9000,
        thinking: { type: "enabled", budget_tokens: 2000 },
        messages: [
          user,
          system("Gone.", { clear_at: "next_user_message" }),
          system(" "),
          {
            role: "assistant",
            content: [
              { type: "thinking", thinking: "Hm.", signature: "" },
              { type: "tool_use", id: "toolu_1", name: "look", input: {} },
            ],
          },
          { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1" }] },
        ],
      },
      { model: "claude-opus-4-6", stream: false },
    );
    expect(body).not.toHaveProperty("thinking");
    expect(notes.map(({ param }) => param)).toContain("thinking");
  });
});
