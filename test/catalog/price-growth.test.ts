/**
 * The price of a call as the vendor's own arithmetic has it: each token belongs to one kind, and each kind has a rate. The charge is at least
 * their exact sum, and no token more makes a call cheaper. T51, T53, T54, T64.
 */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { noUsage, type Usage } from "../../src/base/usage.ts";
import { priceUsage, type FixedPrice, type TextRates } from "../../src/catalog/index.ts";

/** By kind of token: the counts in which vendors report one. */
const countsOf = {
  plain: ["inputTokens"],
  audio: ["inputTokens", "audioInputTokens"],
  read: ["inputTokens", "cacheReadTokens"],
  audioRead: ["inputTokens", "cacheReadTokens", "audioInputTokens", "audioCacheReadTokens"],
  write: ["inputTokens", "cacheWriteTokens"],
  hour: ["inputTokens", "cacheWriteTokens", "cacheWrite1hTokens"],
  text: ["outputTokens"],
  reasoning: ["outputTokens", "reasoningTokens"],
  audioOutput: ["outputTokens", "audioOutputTokens"],
  imageOutput: ["outputTokens", "imageOutputTokens"],
  search: ["webSearches"],
  run: ["codeRuns"],
  drawn: ["imageToolOutputTokens"],
} as const satisfies Readonly<Record<string, readonly (keyof Usage)[]>>;
type Kind = keyof typeof countsOf;
type Counts = Readonly<Record<Kind, number>>;
const kinds = Object.keys(countsOf) as Kind[];

function usageOf(counts: Counts, isExplicit: boolean): Usage {
  const usage: Record<string, number> = { ...noUsage };
  for (const kind of kinds)
    for (const name of countsOf[kind]) usage[name] = (usage[name] ?? 0) + counts[kind];
  return { ...(usage as unknown as Usage), ...(isExplicit && { explicitCache: 1 }) };
}

const count = fc.oneof(fc.nat(3), fc.nat(200_000), fc.constantFrom(0, 1, 999_999, 1_000_000));
const someCounts = fc.record(
  Object.fromEntries(kinds.map((kind) => [kind, count])),
) as fc.Arbitrary<Counts>;

const rate = fc.oneof(
  fc.bigInt({ min: 0n, max: 200_000_000_000n }),
  fc.constantFrom(0n, 1n, 3n, 999_999n),
);
const maybe = fc.option(rate, { nil: undefined });
const someRates: fc.Arbitrary<TextRates> = fc.record({
  input: rate,
  output: rate,
  cacheRead: maybe,
  explicitCacheRead: maybe,
  cacheWrite: maybe,
  cacheWrite1h: maybe,
  reasoning: maybe,
  audioInput: maybe,
  audioOutput: maybe,
  imageOutput: maybe,
  request: maybe,
  webSearch: maybe,
  webSearchAnswer: maybe,
  codeRun: maybe,
  imageToolOutput: maybe,
});

const scaled = (rates: TextRates, factor: bigint): TextRates =>
  Object.fromEntries(
    Object.entries(rates).map(([name, each]) => [
      name,
      typeof each === "bigint" ? each * factor : each,
    ]),
  ) as unknown as TextRates;

/** A price whose tiers for longer calls have higher rates, as all vendors have them. */
const somePrice: fc.Arbitrary<FixedPrice> = fc
  .tuple(someRates, fc.uniqueArray(fc.nat(600_000), { maxLength: 2 }))
  .map(([rates, limits]) => ({
    ...rates,
    above: limits
      .toSorted((one, other) => one - other)
      .map((inputTokens, at) => ({ inputTokens, rates: scaled(rates, BigInt(at + 2)) })),
  }));

/** An exact amount in millionths of a nano-dollar. */
interface Exact {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** The rates for a call with this much input. */
const ratesFor = ({ above = [], ...base }: FixedPrice, { inputTokens }: Usage): TextRates =>
  above.findLast((tier) => inputTokens > tier.inputTokens)?.rates ?? base;

/** The rate of each kind, as the vendors' lists have it. Cached sound is apart: it has none. */
function eachRate(rates: TextRates, { explicitCache }: Usage) {
  const { input, output, cacheRead = input, cacheWrite = input, audioInput = input } = rates;
  const { reasoning = output, audioOutput = output, imageOutput = output } = rates;
  const { cacheWrite1h = cacheWrite > 2n * input ? cacheWrite : 2n * input } = rates;
  const read = explicitCache ? (rates.explicitCacheRead ?? cacheRead) : cacheRead;
  const ofInput = { plain: input, audio: audioInput, read, write: cacheWrite, hour: cacheWrite1h };
  return { ...ofInput, text: output, reasoning, audioOutput, imageOutput };
}

/** The fees beside tokens, and pictures by the vendor's tool, in millionths. */
function feesOf(rates: TextRates, { search, run, drawn }: Counts): bigint {
  const { request = 0n, webSearch = 0n, webSearchAnswer = 0n, codeRun = 0n } = rates;
  const answer = search > 0 ? webSearchAnswer : 0n;
  const whole = request + BigInt(search) * webSearch + answer + BigInt(run) * codeRun;
  return whole * 1_000_000n + BigInt(drawn) * (rates.imageToolOutput ?? 0n);
}

/** The price of each kind of token, without any rounding. */
function exactPrice(price: FixedPrice, counts: Counts, usage: Usage): Exact {
  const rates = ratesFor(price, usage);
  const each = eachRate(rates, usage);
  let rest = feesOf(rates, counts);
  for (const [kind, per] of Object.entries(each)) rest += BigInt(counts[kind as Kind]) * per;
  const { input, cacheRead = input, audioInput } = rates;
  const read = BigInt(counts.audioRead);
  if (audioInput === undefined) return { numerator: rest + read * each.read, denominator: 1n };
  if (cacheRead >= input) return { numerator: rest + read * audioInput, denominator: 1n };
  // Cached sound is cheaper than sound by the factor of cached text.
  return { numerator: rest * input + read * audioInput * cacheRead, denominator: input };
}

describe("the price of a call", () => {
  it("T53 T54: is never below the vendor's own arithmetic, and above it by the rounding alone", () => {
    fc.assert(
      fc.property(somePrice, someCounts, fc.boolean(), (price, counts, isExplicit) => {
        const usage = usageOf(counts, isExplicit);
        const { numerator, denominator } = exactPrice(price, counts, usage);
        const charged = priceUsage(price, usage) * 1_000_000n * denominator;
        expect(charged).toBeGreaterThanOrEqual(numerator);
        // The amount is rounded up once. So is the rate of cached sound, which no price list has.
        const rounding = (1_000_000n + BigInt(counts.audioRead)) * denominator;
        expect(charged - numerator).toBeLessThan(rounding);
      }),
      { numRuns: 1_000 },
    );
  });

  it("T51 T64: does not fall if any kind of token or use is reported more often", () => {
    fc.assert(
      fc.property(
        somePrice,
        someCounts,
        fc.constantFrom(...kinds),
        fc.integer({ min: 1, max: 300_000 }),
        (price, counts, kind, more) => {
          const grown = { ...counts, [kind]: counts[kind] + more };
          const [before, after] = [counts, grown].map((one) =>
            priceUsage(price, usageOf(one, false)),
          );
          expect(after).toBeGreaterThanOrEqual(before!);
        },
      ),
      { numRuns: 1_000 },
    );
  });
});
