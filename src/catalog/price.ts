/**
 * The cost of a text call: usage times rates, exact, rounded up once at the end.
 * Requirements: TXT; docs/decisions.md "Money". Guards T53 (nothing counted twice) and T54 (one-hour cache writes).
 */
import type { NanoUsd } from "../base/money.ts";
import {
  requestPart,
  sumOfParts,
  tokensPart,
  unitsPart,
  type PricePart,
} from "../base/price-parts.ts";
import type { ToolCounts, Usage } from "../base/usage.ts";
import { toolRates } from "./tool-rates.ts";
import type { FixedPrice, TextRates } from "./price-types.ts";
import type { OfferProtocol } from "./types.ts";

/** The rate of one-hour cache writes: as given, else the larger of the five-minute rate and twice the input rate (T54). */
export function hourWriteRate(rates: TextRates): NanoUsd {
  if (rates.cacheWrite1h !== undefined) return rates.cacheWrite1h;
  const fiveMinutes = rates.cacheWrite ?? rates.input;
  const twiceInput = 2n * rates.input;
  return fiveMinutes > twiceInput ? fiveMinutes : twiceInput;
}

/** True for protocols with one-hour writes, messages and Converse, and for any price that has a rate for them. */
export const hasHourWrites = ({ cacheWrite1h }: TextRates, protocol: OfferProtocol): boolean =>
  protocol === "messages" || protocol === "converse" || cacheWrite1h !== undefined;

/**
 * The rate of sound that is read from a cache. Cached sound is cheaper than sound by the same factor as cached text is cheaper than
 * text, as Google bills it. Undefined if sound has no rate of its own.
 */
export function audioCacheReadRate({
  input,
  cacheRead = input,
  audioInput,
}: TextRates): NanoUsd | undefined {
  if (audioInput === undefined || cacheRead >= input) return audioInput;
  return (audioInput * cacheRead + input - 1n) / input;
}

/** The rates for a call with this many input tokens: the last tier passed applies to the whole call (T64). */
function ratesFor(price: FixedPrice, inputTokens: number): TextRates {
  return price.above?.findLast((tier) => inputTokens > tier.inputTokens)?.rates ?? price;
}

const toolParts = (rates: TextRates, counts: ToolCounts): PricePart[] =>
  toolRates.flatMap(({ rate: name, count, billed, per }) => {
    const [rate, uses = 0] = [rates[name], counts[count]];
    if (rate === undefined || uses === 0) return [];
    return [unitsPart(billed, per === "request" ? 1 : uses, { rate, per })];
  });

/** The cost of what the vendor's tools did, in nano-USD. */
export const priceTools = (rates: TextRates, counts: ToolCounts): NanoUsd =>
  sumOfParts(toolParts(rates, counts));

/** The price of a call, in nano-USD: at least the exact price, and less than one nano-dollar above it. */
export const priceUsage = (price: FixedPrice, usage: Usage): NanoUsd =>
  sumOfParts(usageParts(price, usage));

type Kind = readonly [name: string, count: number | undefined, rate: NanoUsd | undefined];

/** Splits off the kinds of tokens that have their own rate, each at most as many tokens as are left. */
function splitOut(whole: number, kinds: readonly Kind[]): { rest: number; parts: PricePart[] } {
  let rest = whole;
  const parts = kinds.flatMap(([name, count = 0, rate]) => {
    const own = Math.min(count, rest);
    if (rate === undefined || own === 0) return [];
    rest -= own;
    return [tokensPart(name, own, rate)];
  });
  return { rest, parts };
}

/** A request has one kind of cache: its own, by markers, or the vendor's. */
const cacheReadRate = (rates: TextRates, { explicitCache }: Usage): NanoUsd =>
  (explicitCache ? rates.explicitCacheRead : undefined) ?? rates.cacheRead ?? rates.input;

/** The output tokens at the rate of reasoning. */
function reasoningTokens({ reasoningIsMode }: TextRates, usage: Usage): number {
  const { reasoningTokens: told, outputTokens } = usage;
  return reasoningIsMode === true && told > 0 ? outputTokens : Math.min(told, outputTokens);
}

/**
 * The parts of a call's charge.
 * A vendor may report a part larger than its whole, such as more cache reads than input. Such a part is limited to the whole, so
 * that no token is billed twice or negatively (T51, T53). Counts that the vendor does not bill have no parts.
 */
export function usageParts(price: FixedPrice, usage: Usage): readonly PricePart[] {
  if (usage.unbilled) return [];
  const rates = ratesFor(price, usage.inputTokens);
  const cacheRead = Math.min(usage.cacheReadTokens, usage.inputTokens);
  const cacheWrite = Math.min(usage.cacheWriteTokens, usage.inputTokens - cacheRead);
  const hourWrite = Math.min(usage.cacheWrite1hTokens, cacheWrite);
  const reasoning = reasoningTokens(rates, usage);
  const audioCacheRead = Math.min(usage.audioCacheReadTokens ?? 0, cacheRead);
  const audioInput = Math.max(0, (usage.audioInputTokens ?? 0) - audioCacheRead);
  const input = splitOut(usage.inputTokens - cacheRead - cacheWrite, [
    ["audio_input_tokens", audioInput, rates.audioInput],
  ]);
  const cached = splitOut(cacheRead, [
    ["audio_cache_read_tokens", audioCacheRead, audioCacheReadRate(rates)],
  ]);
  const output = splitOut(usage.outputTokens - reasoning, [
    ["audio_output_tokens", usage.audioOutputTokens, rates.audioOutput],
    ["image_output_tokens", usage.imageOutputTokens, rates.imageOutput],
  ]);
  return [
    tokensPart("input_tokens", input.rest, rates.input),
    tokensPart("output_tokens", output.rest, rates.output),
    ...input.parts,
    ...output.parts,
    tokensPart("cache_read_tokens", cached.rest, cacheReadRate(rates, usage)),
    ...cached.parts,
    tokensPart("cache_write_tokens", cacheWrite - hourWrite, rates.cacheWrite ?? rates.input),
    tokensPart("cache_write_1h_tokens", hourWrite, hourWriteRate(rates)),
    tokensPart("reasoning_tokens", reasoning, rates.reasoning ?? rates.output),
    ...(rates.request === undefined ? [] : [requestPart("requests", rates.request)]),
    ...toolParts(rates, usage),
  ];
}
