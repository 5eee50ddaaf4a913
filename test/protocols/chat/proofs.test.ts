/** Proofs of earlier reasoning in chat, in the spellings of each vendor. T43. */
import { describe, expect, it } from "vitest";
import { withoutProofs } from "../../../src/protocols/chat/proofs.ts";
import type { JsonObject } from "../../../src/protocols/index.ts";

const said = { role: "assistant", content: "There." };

describe("an answer with proofs", () => {
  const cases: readonly (readonly [string, JsonObject, JsonObject, string[]])[] = [
    [
      "LiteLLM's blocks",
      { ...said, thinking_blocks: [{ type: "thinking", thinking: "Hm.", signature: "s" }] },
      said,
      ["messages.thinking_blocks"],
    ],
    [
      "Databricks' parts",
      {
        ...said,
        content: [
          { type: "reasoning", summary: [{ type: "summary_text", text: "Hm.", signature: "s" }] },
          { type: "text", text: "There." },
        ],
      },
      { ...said, content: [{ type: "text", text: "There." }] },
      ["messages.content"],
    ],
    [
      "parts with nothing else",
      { ...said, content: [{ type: "thinking", thinking: [], signature: "s" }] },
      { ...said, content: "" },
      ["messages.content"],
    ],
    [
      "details of which some are plain",
      {
        ...said,
        reasoning_details: [
          { type: "reasoning.summary", summary: "Hm." },
          { type: "reasoning.encrypted", data: "e" },
        ],
      },
      { ...said, reasoning_details: [{ type: "reasoning.summary", summary: "Hm." }] },
      ["messages.reasoning_details"],
    ],
    [
      "Google's signature beside its other members",
      { ...said, extra_content: { google: { thought: true, thought_signature: "s" } } },
      { ...said, extra_content: { google: { thought: true } } },
      ["messages.extra_content"],
    ],
  ];

  it.each(cases)("T43: goes without %s, which is reported", (_what, message, left, names) => {
    const user = { role: "user", content: "Where is it?" };
    const body = { model: "m", messages: [user, message] };
    const before = structuredClone(body);
    const changed = withoutProofs(body);
    expect(changed?.body).toEqual({ model: "m", messages: [user, left] });
    expect(changed?.notes.map(({ param }) => param)).toEqual(names);
    expect(body).toEqual(before);
  });
});

describe("a conversation without proofs", () => {
  it("T43: has none to leave out", () => {
    const plain = { ...said, reasoning_content: "Hm.", tool_calls: [{ id: "call_1" }] };
    expect(withoutProofs({ messages: [plain] })).toBeUndefined();
    expect(withoutProofs({})).toBeUndefined();
  });
});
