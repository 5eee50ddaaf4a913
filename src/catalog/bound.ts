/**
 * The most a text call can cost, for the reservation. docs/decisions.md "Text reservation"; docs/ledger.md. Guards T64: the long-context tier is in the bound.
 */
import { assert } from "../base/assert.ts";
import { larger, type NanoUsd } from "../base/money.ts";
import { sumOfParts, tokensPart } from "../base/price-parts.ts";
import { hasHourWrites, hourWriteRate, priceImageTool, priceSearches } from "./price.ts";
import type { TextModel, TextOffer, TextRates } from "./types.ts";

/** What the bound needs to know of a request. */
export interface BoundFacts {
  /** Estimate of all input tokens. */
  readonly inputTokens: number;
  /** The requested maximum per answer; absent where the request names none. */
  readonly maxOutputTokens?: number | undefined;
  /** How many answers are asked for (`n`, `candidateCount`); 1 for most. */
  readonly answers: number;
  /** The most web searches at the vendor; absent: none. */
  readonly webSearches?: number;
  /** Whether the input has neither sound nor pictures; absent: it may have some. */
  readonly isText?: boolean | undefined;
  /** Whether a tool of the vendor may make pictures; absent: none does. */
  readonly imageTool?: boolean | undefined;
}

const largest = (...rates: readonly (NanoUsd | undefined)[]): NanoUsd =>
  rates.reduce<NanoUsd>((most, rate = 0n) => larger(most, rate), 0n);

function inputRate(rates: TextRates, { protocol }: TextOffer, { isText }: BoundFacts): NanoUsd {
  return largest(
    rates.input,
    rates.cacheRead,
    rates.cacheWrite,
    isText === true ? undefined : rates.audioInput,
    hasHourWrites(rates, protocol) ? hourWriteRate(rates) : undefined,
  );
}

const outputRate = (rates: TextRates): NanoUsd =>
  largest(rates.output, rates.reasoning, rates.audioOutput, rates.imageOutput);

/** Tokens of the largest picture of high quality, some more. What was made is charged, even where it is more. */
const pictureTokens = 10_000;

/** One picture by the vendor's tool, which may read all of the input. */
const onePicture = (rates: TextRates, inputTokens: number): NanoUsd =>
  priceImageTool(rates, {
    imageToolTextTokens: inputTokens,
    imageToolImageTokens: inputTokens,
    imageToolOutputTokens: pictureTokens,
  });

/**
 * The upper bound of a call, in nano-USD: the dearest offer that may serve it, at the dearest tier that applies,
 * all input at its dearest rate, and the requested maximum output (else `reserveOutputTokens`) for each answer.
 * `offers` must not be empty. At least what `priceUsage` gives for any usage within the facts.
 */
export function upperBound(
  model: TextModel,
  offers: readonly TextOffer[],
  facts: BoundFacts,
): NanoUsd {
  assert(offers.length > 0, "a bound needs an offer");
  const perAnswer = facts.maxOutputTokens ?? model.reserveOutputTokens;
  const outputTokens = BigInt(perAnswer) * BigInt(facts.answers);
  const boundAt = (rates: TextRates, offer: TextOffer): NanoUsd => {
    const tokens = sumOfParts([
      tokensPart("input_tokens", facts.inputTokens, inputRate(rates, offer, facts)),
      tokensPart("output_tokens", outputTokens, outputRate(rates)),
    ]);
    const tools =
      priceSearches(rates, facts.webSearches ?? 0) +
      (facts.imageTool === true ? onePicture(rates, facts.inputTokens) : 0n);
    return tokens + (rates.request ?? 0n) + tools;
  };
  let bound = 0n;
  for (const offer of offers) {
    bound = larger(bound, boundAt(offer.price, offer));
    // Every tier the call may land in: fewer input tokens than estimated fall back to a lower one.
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
 * A cheap estimate of input tokens for the reservation, on the high side for prose and code (about four characters a token).
 * Characters of scripts that take more of a token each count for more (protocols/count-text.ts). The actual is posted even where it
 * is higher.
 */
export function estimateInputTokens(characters: number, media: number): number {
  return Math.ceil(characters / charactersPerToken) + media * tokensPerMedium + framingTokens;
}
