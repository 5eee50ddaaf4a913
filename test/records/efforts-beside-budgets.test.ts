/**
 * Claude models that take efforts besides budgets: 4.5, and 4.6, which also decides itself how much it reasons. An effort alone does not
 * make them reason. CONV-413; docs/models.md.
 */
import { expect, it } from "vitest";
import type { ReasoningAbility } from "../../src/base/abilities.ts";
import { codecs, createRoute, type JsonObject } from "../../src/protocols/index.ts";

const budgets = { kind: "budget", min: 1024, off: true } as const;
const claude45: ReasoningAbility = { ...budgets, values: ["low", "medium", "high"] };
const claude46: ReasoningAbility = { ...budgets, values: ["low", "medium", "high", "max"] };

function sent(caller: "chat" | "messages", members: JsonObject, reasoning: ReasoningAbility) {
  const { body, notes } = createRoute({
    caller: codecs[caller],
    upstream: codecs.messages,
    body: {
      model: "m",
      max_tokens: 50_000,
      messages: [{ role: "user", content: "hi" }],
      ...members,
    },
    stream: false,
    requestedModel: "m",
    model: "m",
    upstreamModel: "up",
    maxOutputTokens: 64_000,
    abilities: { reasoning },
    inputMedia: 0,
    inputEstimate: 1,
    id: "id",
    createdAt: 0,
  });
  const { thinking, output_config } = body;
  return { thinking, output_config, notes: notes.map(({ kind, param }) => `${kind} ${param}`) };
}

const effort = (word: string): JsonObject => ({ output_config: { effort: word } });

it.each([
  ["4.5", claude45, { type: "enabled", budget_tokens: 24_576 }],
  ["4.6", claude46, { type: "adaptive" }],
])("CONV-413: an effort of another protocol makes Claude %s reason", (_name, model, thinking) => {
  const asked = sent("chat", { reasoning_effort: "high" }, model);
  expect(asked).toEqual({ thinking, ...effort("high"), notes: [] });
  expect(sent("chat", { reasoning_effort: "none" }, model).thinking).toEqual({ type: "disabled" });
  expect(sent("chat", { reasoning_effort: "much" }, model)).toEqual({
    thinking: undefined,
    output_config: undefined,
    notes: ["dropped reasoning_effort"],
  });
});

it("CONV-413: so it does in the middle of a tool loop, if it is adaptive; a budget is refused there (T39)", () => {
  const call = { id: "c", type: "function", function: { name: "look", arguments: "{}" } };
  const messages: JsonObject[] = [
    { role: "user", content: "hi" },
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: "c", content: "seen" },
  ];
  const members = { reasoning_effort: "high", messages };
  expect(sent("chat", members, claude46)).toMatchObject({
    thinking: { type: "adaptive" },
    ...effort("high"),
  });
  expect(sent("chat", members, claude45).thinking).toBeUndefined();
});

it("CONV-413: an effort of its own protocol stays alone", () => {
  for (const model of [claude45, claude46])
    expect(sent("messages", effort("high"), model)).toEqual({
      thinking: undefined,
      ...effort("high"),
      notes: [],
    });
});

it("T28: adaptive thinking, as Claude Code asks for it, stays so at Claude 4.6; 4.5 needs a budget", () => {
  const asked = { thinking: { type: "adaptive", display: "omitted" }, ...effort("high") };
  expect(sent("messages", asked, claude46)).toEqual({ ...asked, notes: [] });
  expect(sent("messages", asked, claude45)).toEqual({
    thinking: { type: "enabled", budget_tokens: 8192, display: "omitted" },
    ...effort("high"),
    notes: ["rewritten thinking"],
  });
  const budget = { thinking: { type: "enabled", budget_tokens: 2000 } };
  expect(sent("messages", budget, claude46).thinking).toEqual(budget.thinking);
});
