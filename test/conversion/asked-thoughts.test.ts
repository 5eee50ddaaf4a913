/** Thoughts asked for at models that do not return or have them by default. Requirements: CONV-514, CONV-423, RESP-26. */
import { describe, expect, it } from "vitest";
import type { ReasoningAbility } from "../../src/base/abilities.ts";
import { at } from "../rows/protocols.ts";
import { routeOf } from "./route.ts";
import type { Body } from "./world.ts";

const thinkingOf = (upstreamModel: string, reasoning: Body): unknown => {
  const body = { model: "acme/x", input: "Hi", reasoning };
  const route = routeOf("responses", "generate_content", body, { upstreamModel });
  return at(route.body, "generationConfig", "thinkingConfig");
};

it.each([
  ["gemini-2.5-flash-lite", { includeThoughts: true, thinkingBudget: -1 }],
  ["gemini-2.5-flash-lite-preview-09-2025", { includeThoughts: true, thinkingBudget: -1 }],
  ["gemini-2.5-flash", { includeThoughts: true }],
  ["gemini-3.1-flash-lite", { includeThoughts: true }],
])("CONV-514: a summary asks %s for %j, since Flash-Lite refuses thoughts alone", (model, sent) => {
  expect(thinkingOf(model, { summary: "auto" })).toEqual(sent);
});

it("CONV-514: an effort beside the summary keeps its own budget", () => {
  const sent = { includeThoughts: true, thinkingBudget: 1024 };
  expect(thinkingOf("gemini-2.5-flash-lite", { summary: "auto", effort: "low" })).toEqual(sent);
});

it("CONV-514: without a summary nothing is asked", () => {
  expect(thinkingOf("gemini-2.5-flash-lite", {})).toBeUndefined();
});

describe("thoughts asked for at Claude models that return none by default", () => {
  const adaptive = { kind: "adaptive", off: true, values: ["low", "high"] } as const;
  const budget = { kind: "budget", off: true, min: 1024 } as const;
  const either = { ...budget, values: ["low", "high", "max"] } as const;
  const always = { ...adaptive, off: false } as const;
  const unlessOff = { ...adaptive, offAs: "between_tools" } as const;
  const asked = (
    from: "responses" | "generate_content",
    body: Body,
    reasoning: ReasoningAbility = adaptive,
  ) => {
    const { body: sent, notes } = routeOf(from, "messages", body, {
      abilities: { reasoning },
      maxOutputTokens: 32_000,
    });
    return { thinking: sent["thinking"], notes: notes.map(({ param, kind }) => [param, kind]) };
  };
  const summary = (effort: string, word = "auto"): Body => ({
    model: "acme/x",
    input: "Hi",
    reasoning: { effort, summary: word },
  });
  const thoughts = (includeThoughts: boolean): Body => ({
    contents: [{ role: "user", parts: [{ text: "Hi" }] }],
    generationConfig: { thinkingConfig: { thinkingLevel: "HIGH", includeThoughts } },
  });

  it.each(["auto", "detailed"])(
    "CONV-423: a summary (%s) has them shown, and no amount",
    (word) => {
      expect(asked("responses", summary("high", word))).toEqual({
        thinking: { type: "adaptive", display: "summarized" },
        notes: [["reasoning.summary", "rewritten"]],
      });
    },
  );

  it.each([
    [true, "summarized"],
    [false, "omitted"],
  ] as const)("CONV-423: includeThoughts %s has them %s", (included, display) => {
    expect(asked("generate_content", thoughts(included))).toEqual({
      thinking: { type: "adaptive", display },
      notes: [],
    });
  });

  it("CONV-423: at Claude 4.6, which takes budgets too, they are chosen unless it has one", () => {
    const shown = { type: "adaptive", display: "summarized" };
    const asks = (include: boolean) => asked("generate_content", thoughts(include), either);
    expect(asked("responses", summary("high"), either)).toEqual({
      thinking: shown,
      notes: [["reasoning.summary", "rewritten"]],
    });
    expect(asks(true)).toEqual({ thinking: shown, notes: [] });
    expect(asks(false)).toEqual({ thinking: { ...shown, display: "omitted" }, notes: [] });
    const { contents } = thoughts(true);
    const thinkingConfig = { thinkingBudget: 2000, includeThoughts: true };
    const budgeted = { contents, generationConfig: { thinkingConfig } };
    expect(asked("generate_content", budgeted, either)).toEqual({
      thinking: { type: "enabled", budget_tokens: 2000 },
      notes: [["generationConfig.thinkingConfig.includeThoughts", "dropped"]],
    });
  });

  it.each([always, unlessOff])(
    "CONV-423: asked for without an effort, as Codex and Gemini CLI do, models that reason by themselves show them: %j",
    (reasoning) => {
      const bare = { model: "acme/x", input: "Hi", reasoning: { summary: "auto" } };
      const thinkingConfig = { includeThoughts: true };
      const contents = [{ role: "user", parts: [{ text: "Hi" }] }];
      const shown = { type: "adaptive", display: "summarized" };
      expect(asked("responses", bare, reasoning)).toEqual({
        thinking: shown,
        notes: [["reasoning.summary", "rewritten"]],
      });
      const body = (include: Body) => ({ contents, generationConfig: { thinkingConfig: include } });
      expect(asked("generate_content", body(thinkingConfig), reasoning)).toEqual({
        thinking: shown,
        notes: [],
      });
      expect(asked("responses", bare)).toEqual({
        thinking: undefined,
        notes: [["reasoning.summary", "dropped"]],
      });
      expect(
        asked("generate_content", body({ includeThoughts: false }), reasoning).thinking,
      ).toBeUndefined();
    },
  );

  it("CONV-423: without reasoning, and at models with a budget, none are asked for", () => {
    const dropped = [["reasoning.summary", "dropped"]];
    expect(asked("responses", summary("none"))).toEqual({
      thinking: { type: "disabled" },
      notes: dropped,
    });
    expect(asked("responses", summary("high"), budget)).toMatchObject({
      thinking: { type: "enabled" },
      notes: dropped,
    });
    const { reasoning: _none, ...plain } = summary("high");
    expect(asked("responses", plain)).toEqual({ thinking: undefined, notes: [] });
  });
});
