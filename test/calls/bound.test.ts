/** The bound of a text call over the models that may serve it. docs/decisions.md "Text reservation". */
import { expect, it } from "vitest";
import { parseUsd as usd } from "../../src/base/money.ts";
import { boundOf } from "../../src/calls/bound.ts";
import { sandboxCatalog, type TextModel } from "../../src/catalog/index.ts";
import type { CallFacts } from "../../src/protocols/index.ts";

const base = sandboxCatalog("http://sandbox").models.get("sandbox/multi") as TextModel;
const caller = { protocol: "chat", body: {} } as const;
const facts = (maxOutputTokens?: number): CallFacts =>
  ({ answers: 1, inputMedia: 0, maxOutputTokens }) as CallFacts;

/** A candidate whose model has these limits; `sent` is the maximum in the upstream's request. */
function candidate(limits: Partial<TextModel>, output: string, sent?: number) {
  const price = { input: 0n, output: usd(output) };
  const offer = { provider: "p", protocol: "chat", upstreamModel: "m", price } as const;
  return {
    offer,
    limits: { ...base, ...limits },
    route: () => ({ askedOutputTokens: sent }),
  };
}
const boundAt = (candidates: readonly ReturnType<typeof candidate>[], asked?: number) =>
  boundOf(candidates, facts(asked), 0, caller);

it("each model of a call is reserved at its own limits and its own price", () => {
  const short = candidate({ maxOutputTokens: 100, reserveOutputTokens: 100 }, "90");
  const long = candidate({ maxOutputTokens: 1_000, reserveOutputTokens: 500 }, "10");
  expect(boundAt([short])).toBe(usd("0.009"));
  expect(boundAt([long])).toBe(usd("0.005"));
  expect(boundAt([short, long])).toBe(usd("0.009"));
  expect(boundAt([short, long], 1_000)).toBe(usd("0.01"));
});

it("a larger maximum of a converted request is reserved, up to the model's own, if the caller asked for one", () => {
  const limits = { maxOutputTokens: 1_000, reserveOutputTokens: 200 };
  const sent = (tokens: number, asked?: number) =>
    boundAt([candidate(limits, "10", tokens)], asked);
  expect(sent(600, 100)).toBe(usd("0.006"));
  expect(sent(50, 100)).toBe(usd("0.001"));
  expect(sent(5_000, 100)).toBe(usd("0.01"));
  // Some protocols need a maximum: a call without one is reserved as such calls usually end.
  expect(sent(1_000)).toBe(usd("0.002"));
});
