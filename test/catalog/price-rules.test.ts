/** Rules of prices and bounds with few cases each: cached sound, counts that are not billed, the vendor's tools, short calls. */
import { describe, expect, it } from "vitest";
import { parseUsd } from "../../src/base/money.ts";
import { noUsage, type Usage } from "../../src/base/usage.ts";
import {
  estimateInputTokens,
  priceUsage,
  sandboxCatalog,
  upperBound,
  type TextModel,
  type TextPrice,
  type TextRates,
} from "../../src/catalog/index.ts";

const usd = parseUsd;
const usage = (parts: Partial<Usage>): Usage => ({ ...noUsage, ...parts });
const plain: TextRates = { input: usd("3"), cacheRead: usd("0.30"), output: usd("15") };

describe("the price of cached sound", () => {
  const priced: TextPrice = { ...plain, audioInput: usd("40") };
  const heard = usage({
    inputTokens: 100,
    cacheReadTokens: 50,
    audioInputTokens: 40,
    audioCacheReadTokens: 20,
  });

  it("is a share of the rate of sound, the same as that of cached text", () => {
    // 30 of text and 20 of sound are new, 30 of text and 20 of sound are cached.
    const [fresh, cached] = [usd("0.00009") + usd("0.0008"), usd("0.000009") + usd("0.00008")];
    expect(priceUsage(priced, heard)).toBe(fresh + cached);
  });

  it("has a rate that is rounded up to a nano-dollar", () => {
    // A third of 1 nano-dollar, for a million tokens.
    const tiny = { input: 3n, cacheRead: 1n, output: 0n, audioInput: 1n };
    const million = { inputTokens: 1_000_000, cacheReadTokens: 1_000_000 };
    const sound = { audioInputTokens: 1_000_000, audioCacheReadTokens: 1_000_000 };
    expect(priceUsage(tiny, usage({ ...million, ...sound }))).toBe(1n);
    const two = { ...tiny, audioInput: 4n };
    expect(priceUsage(two, usage({ ...million, ...sound }))).toBe(2n);
  });

  it("is that of sound if cached text is not cheaper than text, also if text is free", () => {
    const whole = usd("0.0016") + usd("0.00018");
    expect(priceUsage({ ...priced, cacheRead: usd("3") }, heard)).toBe(whole);
    expect(priceUsage({ ...priced, cacheRead: undefined }, heard)).toBe(whole);
    const free = { input: 0n, output: 0n, audioInput: usd("40") };
    expect(priceUsage(free, heard)).toBe(usd("0.0016"));
  });
});

describe("priceUsage", () => {
  it("charges nothing for counts that the vendor does not bill", () => {
    const used = usage({ inputTokens: 100, outputTokens: 100, unbilled: 1 });
    expect(priceUsage({ ...plain, request: usd("1") }, used)).toBe(0n);
  });

  it("charges the whole output at the rate of reasoning in a mode of that name, and only if the call reasoned", () => {
    const price = { ...plain, reasoning: usd("30"), reasoningIsMode: true };
    const at = (reasoningTokens: number) =>
      priceUsage(price, usage({ outputTokens: 100, reasoningTokens }));
    expect([at(0), at(1), at(100)]).toEqual([usd("0.0015"), usd("0.003"), usd("0.003")]);
  });
});

describe("upperBound", () => {
  const base = sandboxCatalog("http://sandbox").models.get("sandbox/multi") as TextModel;
  const boundOf = (price: TextPrice, facts: object) => {
    const offer = { provider: "p", protocol: "chat", upstreamModel: "m", price } as const;
    return upperBound(base, [offer], {
      inputTokens: 1_000,
      maxOutputTokens: 0,
      answers: 1,
      ...facts,
    });
  };

  it("T64: takes a tier's rates from the first input token above its limit", () => {
    const above = [{ inputTokens: 1_000, rates: { input: usd("6"), output: usd("15") } }];
    const at = (inputTokens: number) => boundOf({ ...plain, above }, { inputTokens });
    expect([at(1_000), at(1_001)]).toEqual([usd("0.003"), usd("0.006006")]);
  });

  it("takes the rate of sound unless the input is text alone", () => {
    const price = { ...plain, audioInput: usd("40") };
    expect(boundOf(price, {})).toBe(usd("0.04"));
    expect(boundOf(price, { isText: false })).toBe(usd("0.04"));
    expect(boundOf(price, { isText: true })).toBe(usd("0.003"));
  });

  it("CAP-03: adds the uses of the vendor's tools to tokens and request", () => {
    const price = { ...plain, request: usd("0.5"), webSearch: usd("0.01") };
    expect(boundOf(price, {})).toBe(usd("0.503"));
    expect(boundOf(price, { toolUses: { webSearches: 3 } })).toBe(usd("0.533"));
  });

  it("CAP-03: adds one picture, made from the whole input, if a tool may make it", () => {
    const tool = { imageToolInput: usd("5"), imageToolOutput: usd("40") };
    const price = { ...plain, ...tool, imageToolImageInput: usd("10") };
    expect(boundOf(price, {})).toBe(usd("0.003"));
    expect(boundOf(price, { imageTool: false })).toBe(usd("0.003"));
    const [text, pictures, made] = [usd("0.005"), usd("0.01"), usd("0.4")];
    expect(boundOf(price, { imageTool: true })).toBe(usd("0.003") + text + pictures + made);
  });
});

describe("estimateInputTokens", () => {
  it("is at most a third of the characters and a few tokens more", () => {
    expect(estimateInputTokens(4_400, 0)).toBeLessThan(1_500);
  });
});
