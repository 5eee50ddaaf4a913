/**
 * The most that a text call can cost, for its reservation. docs/decisions.md "Text reservation"; docs/ledger.md. Guards T64: the
 * bound includes the long-context tier.
 */
import { assert } from "../base/assert.ts";
import { larger, type NanoUsd } from "../base/money.ts";
import { sumOfParts, tokensPart } from "../base/price-parts.ts";
import type { ToolCounts, ToolUses } from "../base/usage.ts";
import { hasHourWrites, hourWriteRate, priceTools } from "./price.ts";
import type { TextRates } from "./price-types.ts";
import type { TextModel, TextOffer } from "./types.ts";

/** The facts of a request that its bound depends on. */
export interface BoundFacts {
  /** Estimate of all input tokens. */
  readonly inputTokens: number;
  /** The requested maximum per answer; absent if the request has none. */
  readonly maxOutputTokens?: number | undefined;
  /** The number of requested answers (`n`, `candidateCount`), usually 1. */
  readonly answers: number;
  /** The most uses of the vendor's tools; absent: none. */
  readonly toolUses?: ToolUses;
  /** True if the input has neither sound nor pictures; otherwise it may have some. */
  readonly isText?: boolean | undefined;
  /** True if a tool of the vendor may make pictures. */
  readonly imageTool?: boolean | undefined;
  /** True if cache writes may be for an hour in a protocol that does not report it (T54). */
  readonly hourWrites?: boolean | undefined;
}

const largest = (...rates: readonly (NanoUsd | undefined)[]): NanoUsd =>
  rates.reduce<NanoUsd>((most, rate = 0n) => larger(most, rate), 0n);

function inputRate(rates: TextRates, { protocol }: TextOffer, facts: BoundFacts): NanoUsd {
  return largest(
    rates.input,
    rates.cacheRead,
    rates.explicitCacheRead,
    rates.cacheWrite,
    facts.isText === true ? undefined : rates.audioInput,
    facts.hourWrites === true || hasHourWrites(rates, protocol) ? hourWriteRate(rates) : undefined,
  );
}

const outputRate = (rates: TextRates): NanoUsd =>
  largest(rates.output, rates.reasoning, rates.audioOutput, rates.imageOutput);

/** More than the tokens of the largest high-quality picture. The actual count is charged, even if it is larger. */
const pictureTokens = 10_000;

/** The counts that the vendor's tools may reach. The picture tool makes one picture, and reads the whole input. */
const toolsOf = ({ inputTokens, toolUses, imageTool }: BoundFacts): ToolCounts => ({
  ...toolUses,
  ...(imageTool === true && {
    imageToolTextTokens: inputTokens,
    imageToolImageTokens: inputTokens,
    imageToolOutputTokens: pictureTokens,
  }),
});

/**
 * The upper bound of a call, in nano-USD. It takes the most expensive offer, the most expensive tier that applies and the highest
 * rates. Output is the requested maximum, or `reserveOutputTokens` if there is none, for each answer.
 * `offers` must not be empty. At least the result of `priceUsage` for any usage within the facts.
 */
export function upperBound(
  model: TextModel,
  offers: readonly TextOffer[],
  facts: BoundFacts,
): NanoUsd {
  assert(offers.length > 0, "a bound needs an offer");
  const perAnswer = facts.maxOutputTokens ?? model.reserveOutputTokens;
  const outputTokens = BigInt(perAnswer) * BigInt(facts.answers);
  const tools = toolsOf(facts);
  const boundAt = (rates: TextRates, offer: TextOffer): NanoUsd => {
    const tokens = sumOfParts([
      tokensPart("input_tokens", facts.inputTokens, inputRate(rates, offer, facts)),
      tokensPart("output_tokens", outputTokens, outputRate(rates)),
    ]);
    return tokens + (rates.request ?? 0n) + priceTools(rates, tools);
  };
  let bound = 0n;
  for (const offer of offers) {
    bound = larger(bound, boundAt(offer.price, offer));
    // Try every tier that the call may reach: if it has fewer input tokens than estimated, a lower tier applies.
    for (const tier of offer.price.above ?? []) {
      if (facts.inputTokens > tier.inputTokens) bound = larger(bound, boundAt(tier.rates, offer));
    }
  }
  return bound;
}

const charactersPerToken = 3;
const tokensPerMedium = 2_000;
const framingTokens = 16;

/**
 * A cheap estimate of input tokens for the reservation, high for prose and code (about four characters a token).
 * Characters of scripts with more tokens per character count for more (protocols/count-text.ts). The actual count is charged, even
 * if it is higher.
 */
export function estimateInputTokens(characters: number, media: number): number {
  return Math.ceil(characters / charactersPerToken) + media * tokensPerMedium + framingTokens;
}
