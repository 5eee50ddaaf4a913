/** Thoughts asked for at Gemini models that do not reason by default. Requirements: CONV-514, RESP-26. */
import { expect, it } from "vitest";
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
