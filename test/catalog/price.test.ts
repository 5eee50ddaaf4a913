import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseUsd } from "../../src/base/money.ts";
import { noUsage, type Usage } from "../../src/base/usage.ts";
import {
  estimateInputTokens,
  priceUsage,
  sandboxCatalog,
  upperBound,
  type TextModel,
  type TextOffer,
  type TextPrice,
  type TextRates,
} from "../../src/catalog/index.ts";

const usd = parseUsd;
const usage = (parts: Partial<Usage>): Usage => ({ ...noUsage, ...parts });

/** USD per million tokens, with all the optional rates set. */
const full: TextPrice = {
  input: usd("3"),
  cacheRead: usd("0.30"),
  cacheWrite: usd("3.75"),
  output: usd("15"),
};

const rows: [name: string, price: TextPrice, usage: Usage, cost: string][] = [
  ["input alone", full, usage({ inputTokens: 1_000_000 }), "3"],
  ["output alone", full, usage({ outputTokens: 1_000_000 }), "15"],
  [
    "cache reads are not billed as input",
    full,
    usage({ inputTokens: 100, cacheReadTokens: 40 }),
    "0.000192",
  ],
  [
    "cache writes are not billed as input",
    full,
    usage({ inputTokens: 100, cacheWriteTokens: 40 }),
    "0.00033",
  ],
  [
    "an hour's write defaults to twice the input rate",
    full,
    usage({ inputTokens: 100, cacheWriteTokens: 40, cacheWrite1hTokens: 40 }),
    "0.00042",
  ],
  [
    "an hour's write is never cheaper than five minutes'",
    { ...full, cacheWrite: usd("9") },
    usage({ inputTokens: 10, cacheWriteTokens: 10, cacheWrite1hTokens: 10 }),
    "0.00009",
  ],
  [
    "audio and images with their own rates are not billed as input or output",
    { ...full, audioInput: usd("40"), audioOutput: usd("80"), imageOutput: usd("30") },
    usage({
      inputTokens: 100,
      cacheReadTokens: 40,
      audioInputTokens: 10,
      outputTokens: 100,
      reasoningTokens: 20,
      audioOutputTokens: 30,
      imageOutputTokens: 5,
    }),
    "0.004087",
  ],
  [
    "cached audio costs the cache rate; image tokens are cut to the output",
    { ...full, audioInput: usd("40"), imageOutput: usd("30") },
    usage({
      inputTokens: 100,
      cacheReadTokens: 95,
      audioInputTokens: 50,
      outputTokens: 10,
      imageOutputTokens: 99,
    }),
    "0.0005285",
  ],
  [
    "audio and images without their own rates cost the input or output rate",
    full,
    usage({ inputTokens: 10, audioInputTokens: 10, outputTokens: 10, imageOutputTokens: 10 }),
    "0.00018",
  ],
  [
    "web searches are billed per search and per answer",
    { ...full, webSearch: usd("0.01"), webSearchAnswer: usd("0.035") },
    usage({ inputTokens: 100, webSearches: 3 }),
    "0.0653",
  ],
  [
    "an unused web search costs nothing",
    { ...full, webSearch: usd("0.01"), webSearchAnswer: usd("0.035") },
    usage({ inputTokens: 100 }),
    "0.0003",
  ],
  [
    "an hour's write at its own rate",
    { ...full, cacheWrite1h: usd("5") },
    usage({ inputTokens: 10, cacheWriteTokens: 10, cacheWrite1hTokens: 4 }),
    "0.0000425",
  ],
  [
    "without cache rates all input costs the same",
    { input: usd("2"), output: usd("8") },
    usage({ inputTokens: 90, cacheReadTokens: 30, cacheWriteTokens: 30 }),
    "0.00018",
  ],
  [
    "reasoning is part of the output",
    full,
    usage({ outputTokens: 100, reasoningTokens: 60 }),
    "0.0015",
  ],
  [
    "reasoning at its own rate",
    { ...full, reasoning: usd("30") },
    usage({ outputTokens: 100, reasoningTokens: 60 }),
    "0.0024",
  ],
  ["the request price comes once", { ...full, request: usd("0.01") }, noUsage, "0.01"],
  [
    "parts are not rounded one by one",
    { input: 1n, output: 1n },
    usage({ inputTokens: 1, outputTokens: 1 }),
    "0.000000001",
  ],
];

describe("priceUsage", () => {
  it.each(rows)("counts correctly: %s", (_name, price, used, cost) => {
    expect(priceUsage(price, used)).toBe(usd(cost));
  });

  it("T53: bills cache creation once, at its own rate and not also as input", () => {
    // 12,304 tokens written and 550 others, 450 out, at 3 / 3.75 / 15 USD per million.
    const used = usage({ inputTokens: 12_854, cacheWriteTokens: 12_304, outputTokens: 450 });
    expect(priceUsage(full, used)).toBe(usd("0.05454"));
  });

  it("T53: bills cache hits once", () => {
    const price = { input: usd("1.25"), cacheRead: usd("0.125"), output: usd("10") };
    const used = usage({ inputTokens: 500_000, cacheReadTokens: 480_000, outputTokens: 1_000 });
    expect(priceUsage(price, used)).toBe(usd("0.095"));
  });

  it("T54: bills cache writes kept for an hour at twice the input rate, the others at their own", () => {
    const used = usage({
      inputTokens: 3_000,
      cacheWriteTokens: 2_000,
      cacheWrite1hTokens: 1_000,
    });
    expect(priceUsage(full, used)).toBe(usd("0.003") + usd("0.00375") + usd("0.006"));
  });

  it("T51: cuts parts larger than their whole, and never bills negatively or twice", () => {
    const used = usage({ inputTokens: 10, cacheReadTokens: 50, cacheWriteTokens: 50 });
    expect(priceUsage(full, used)).toBe(usd("0.000003"));
    const hours = usage({ inputTokens: 10, cacheWriteTokens: 4, cacheWrite1hTokens: 9 });
    expect(priceUsage(full, hours)).toBe(usd("0.000042"));
    const thought = usage({ outputTokens: 10, reasoningTokens: 50 });
    expect(priceUsage({ ...full, reasoning: usd("30") }, thought)).toBe(usd("0.0003"));
  });

  it("applies the long-context tier to the whole call, from the first token above its limit", () => {
    const price = {
      ...full,
      above: [{ inputTokens: 200_000, rates: { input: usd("6"), output: usd("22.50") } }],
    };
    const at = usage({ inputTokens: 200_000, outputTokens: 1_000 });
    expect(priceUsage(price, at)).toBe(usd("0.6") + usd("0.015"));
    const over = usage({ inputTokens: 200_001, outputTokens: 1_000 });
    expect(priceUsage(price, over)).toBe(usd("1.200006") + usd("0.0225"));
  });

  it("applies the last tier that a call passes to the whole call", () => {
    const at = (input: string) => ({ input: usd(input), output: usd("1") });
    const price = {
      ...at("1"),
      above: [
        { inputTokens: 32_000, rates: at("2") },
        { inputTokens: 128_000, rates: at("3") },
      ],
    };
    const costs = [32_000, 32_001, 128_000, 128_001].map((inputTokens) =>
      priceUsage(price, usage({ inputTokens })),
    );
    expect(costs).toEqual([usd("0.032"), usd("0.064002"), usd("0.256"), usd("0.384003")]);
  });
});

const rate = fc.bigInt({ min: 0n, max: 200_000_000_000n });
const optionalRate = fc.option(rate, { nil: undefined });
const anyRates: fc.Arbitrary<TextRates> = fc.record({
  input: rate,
  output: rate,
  cacheRead: optionalRate,
  explicitCacheRead: optionalRate,
  cacheWrite: optionalRate,
  cacheWrite1h: optionalRate,
  reasoning: optionalRate,
  request: optionalRate,
  audioInput: optionalRate,
  audioOutput: optionalRate,
  imageOutput: optionalRate,
});
const anyPrice: fc.Arbitrary<TextPrice> = fc
  .tuple(
    anyRates,
    fc.array(fc.record({ inputTokens: fc.nat(300_000), rates: anyRates }), { maxLength: 3 }),
  )
  .map(([rates, tiers]) => ({
    ...rates,
    above: tiers.toSorted((left, right) => left.inputTokens - right.inputTokens),
  }));

/** A usage whose parts do not exceed their totals. */
const anyUsage: fc.Arbitrary<Usage> = fc
  .record({
    plain: fc.nat(200_000),
    read: fc.nat(200_000),
    write: fc.nat(50_000),
    hour: fc.nat(50_000),
    text: fc.nat(50_000),
    reasoning: fc.nat(50_000),
    isExplicit: fc.boolean(),
  })
  .map((parts) => ({
    inputTokens: parts.plain + parts.read + parts.write + parts.hour,
    cacheReadTokens: parts.read,
    cacheWriteTokens: parts.write + parts.hour,
    cacheWrite1hTokens: parts.hour,
    outputTokens: parts.text + parts.reasoning,
    reasoningTokens: parts.reasoning,
    ...(parts.isExplicit && { explicitCache: 1 }),
  }));

/** The exact price times a million, counted as one disjoint part after another. */
function exactMillionths(price: TextPrice, used: Usage): bigint {
  const passed = (price.above ?? []).filter((tier) => used.inputTokens > tier.inputTokens);
  const rates = passed.at(-1)?.rates ?? price;
  const read = rates.cacheRead ?? rates.input;
  const write = rates.cacheWrite ?? rates.input;
  const hour = rates.cacheWrite1h ?? (write > rates.input * 2n ? write : rates.input * 2n);
  const parts: [tokens: number, rate: bigint][] = [
    [used.inputTokens - used.cacheReadTokens - used.cacheWriteTokens, rates.input],
    [used.cacheReadTokens, (used.explicitCache && rates.explicitCacheRead) ?? read],
    [used.cacheWriteTokens - used.cacheWrite1hTokens, write],
    [used.cacheWrite1hTokens, hour],
    [used.outputTokens - used.reasoningTokens, rates.output],
    [used.reasoningTokens, rates.reasoning ?? rates.output],
  ];
  const perCall = (rates.request ?? 0n) * 1_000_000n;
  return parts.reduce((sum, [tokens, each]) => sum + BigInt(tokens) * each, perCall);
}

const base = sandboxCatalog("http://sandbox").models.get("sandbox/multi") as TextModel;
const anyOffer: fc.Arbitrary<TextOffer> = fc.record({
  provider: fc.constantFrom("a", "b"),
  protocol: fc.constantFrom("chat", "responses", "messages", "generate_content"),
  upstreamModel: fc.constant("upstream"),
  price: anyPrice,
});

describe("prices for random rates and usage", () => {
  it("T53: are the exact rational price, rounded up once to a nano-dollar", () => {
    fc.assert(
      fc.property(anyPrice, anyUsage, (price, used) => {
        const exact = exactMillionths(price, used);
        const charged = priceUsage(price, used) * 1_000_000n;
        expect(charged).toBeGreaterThanOrEqual(exact);
        expect(charged - exact).toBeLessThan(1_000_000n);
      }),
    );
  });

  it("T64: stay within the upper bound, on any offer and tier", () => {
    const cases = fc.record({
      offers: fc.array(anyOffer, { minLength: 1, maxLength: 4 }),
      used: anyUsage,
      spareInput: fc.nat(100_000),
      spareOutput: fc.nat(1_000),
      answers: fc.integer({ min: 1, max: 8 }),
      pick: fc.nat(),
      media: fc.record({
        audioInputTokens: fc.nat(200_000),
        audioOutputTokens: fc.nat(50_000),
        imageOutputTokens: fc.nat(50_000),
      }),
    });
    fc.assert(
      fc.property(cases, ({ offers, used, spareInput, spareOutput, answers, pick, media }) => {
        const facts = {
          inputTokens: used.inputTokens + spareInput,
          maxOutputTokens: Math.ceil(used.outputTokens / answers) + spareOutput,
          answers,
        };
        const offer = offers[pick % offers.length]!;
        // One-hour cache writes exist in the messages protocol only, unless the offer has a rate for them.
        const tiers = (offer.price.above ?? []).map(({ rates }) => rates);
        const hasHourRates = [offer.price, ...tiers].every(
          (rates) => rates.cacheWrite1h !== undefined,
        );
        const hours = offer.protocol === "messages" || hasHourRates;
        const real = hours ? used : { ...used, cacheWrite1hTokens: 0 };
        const bound = upperBound(base, offers, facts);
        expect(bound).toBeGreaterThanOrEqual(priceUsage(offer.price, { ...real, ...media }));
        const text = { ...real, ...media, audioInputTokens: 0 };
        const textBound = upperBound(base, offers, { ...facts, isText: true });
        expect(textBound).toBeGreaterThanOrEqual(priceUsage(offer.price, text));
      }),
    );
  });
});

describe("upperBound", () => {
  const offer = (price: TextPrice, protocol: TextOffer["protocol"] = "chat"): TextOffer => ({
    provider: "p",
    protocol,
    upstreamModel: "m",
    price,
  });
  const plain = { input: usd("1"), output: usd("10") };
  const facts = { inputTokens: 1_000, answers: 1 };

  it("takes the requested maximum, else the model's reserve, for each answer", () => {
    const offers = [offer(plain)];
    expect(upperBound(base, offers, facts)).toBe(usd("0.001") + usd("0.04096"));
    const asked = { ...facts, maxOutputTokens: 100 };
    expect(upperBound(base, offers, asked)).toBe(usd("0.001") + usd("0.001"));
    expect(upperBound(base, offers, { ...asked, answers: 3 })).toBe(usd("0.001") + usd("0.003"));
  });

  it("takes the dearest candidate", () => {
    const dear = offer({ input: usd("1"), output: usd("20") });
    const asked = { ...facts, maxOutputTokens: 100 };
    expect(upperBound(base, [offer(plain), dear], asked)).toBe(usd("0.003"));
  });

  it("counts cache writes if they are dearer than input, and an hour's only where they exist", () => {
    const price = { ...plain, cacheWrite: usd("1.25") };
    const asked = { ...facts, maxOutputTokens: 0 };
    expect(upperBound(base, [offer(price)], asked)).toBe(usd("0.00125"));
    expect(upperBound(base, [offer(price, "messages")], asked)).toBe(usd("0.002"));
    expect(upperBound(base, [offer(price)], { ...asked, hourWrites: true })).toBe(usd("0.002"));
  });

  it("adds the price of a request, and takes the reasoning rate if it is above the output rate", () => {
    const price = { ...plain, reasoning: usd("30"), request: usd("0.5") };
    const asked = { ...facts, maxOutputTokens: 100 };
    expect(upperBound(base, [offer(price)], asked)).toBe(usd("0.501") + usd("0.003"));
  });

  it("is rounded up once, on the sum of tokens, as the price is", () => {
    const tiny = { input: 1n, output: 1n };
    const asked = { inputTokens: 1, maxOutputTokens: 1, answers: 1 };
    expect(upperBound(base, [offer(tiny)], asked)).toBe(1n);
    expect(upperBound(base, [offer(tiny)], { ...asked, inputTokens: 999_999 })).toBe(1n);
    expect(upperBound(base, [offer(tiny)], { ...asked, inputTokens: 1_000_000 })).toBe(2n);
  });

  it("T64: reserves five requests of 300K tokens at the long-context tier", () => {
    const tiered = {
      input: usd("0.30"),
      output: usd("2.50"),
      above: [{ inputTokens: 200_000, rates: { input: usd("0.60"), output: usd("5") } }],
    };
    const long = { inputTokens: 300_000, maxOutputTokens: 0, answers: 1 };
    const one = upperBound(base, [offer(tiered)], long);
    expect(one).toBe(usd("0.18"));
    const cap = usd("0.45");
    const admitted = [1n, 2n, 3n, 4n, 5n].filter((count) => one * count <= cap);
    expect(admitted).toHaveLength(2);
  });

  it("throws on an empty list of offers", () => {
    expect(() => upperBound(base, [], facts)).toThrow("a bound needs an offer");
  });
});

describe("estimateInputTokens", () => {
  it("grows with characters and media, and is high for prose", () => {
    const prose = "The quick brown fox jumps over the lazy dog. ".repeat(100);
    const estimate = estimateInputTokens(prose.length, 0);
    expect(estimate).toBeGreaterThan(1_001);
    expect(estimateInputTokens(prose.length, 2)).toBe(estimate + 4_000);
    expect(estimateInputTokens(0, 0)).toBeGreaterThan(0);
  });
});
