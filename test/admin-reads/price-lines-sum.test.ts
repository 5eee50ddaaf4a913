/** The displayed price lines of any call add up to its charge, by the price that the log keeps. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { chargeLines } from "../../src/admin/index.ts";
import { chargeFor } from "../../src/base/cost-bound.ts";
import { noUsage, type Usage } from "../../src/base/usage.ts";
import {
  priceUsage,
  type FixedPrice,
  type MediaPrice,
  type TextRates,
} from "../../src/catalog/index.ts";
import { storedPrice, priceMedia, type AnyPrice, type MediaUsage } from "../../src/media/index.ts";
import { exactUsd } from "../support/exact-usd.ts";
import { silentLog } from "../support/postgres.ts";

/** From nearly free rates to rates that reach the largest cost of a call. */
const rate = fc.oneof(fc.bigInt({ min: 0n, max: 10n ** 12n }), fc.bigInt({ min: 0n, max: 50n }));
const dear = fc.oneof(
  { weight: 9, arbitrary: rate },
  { weight: 1, arbitrary: fc.constant(10n ** 16n) },
);
const some = fc.option(rate, { nil: undefined });
const count = fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: 3_000_000 }));

const rates: fc.Arbitrary<TextRates> = fc.record({
  input: rate,
  output: rate,
  cacheRead: some,
  cacheWrite: some,
  cacheWrite1h: some,
  reasoning: some,
  request: fc.option(dear, { nil: undefined }),
  audioInput: some,
  audioOutput: some,
  imageOutput: some,
  webSearch: some,
  webSearchAnswer: some,
  fileSearch: some,
  mapSearch: some,
  mapAnswer: some,
  attachmentSearch: some,
  codeRun: some,
  xPost: some,
  xProfile: some,
  imageToolInput: some,
  imageToolImageInput: some,
  imageToolOutput: some,
});
const textPrice: fc.Arbitrary<FixedPrice> = fc
  .tuple(rates, fc.array(fc.record({ inputTokens: count, rates }), { maxLength: 3 }))
  .map(([price, above]) => ({
    ...price,
    above: above.toSorted((one, other) => one.inputTokens - other.inputTokens),
  }));
/** Includes parts that are larger than their whole, as vendors report by mistake. */
const textUsage: fc.Arbitrary<Usage> = fc
  .record(
    {
      inputTokens: count,
      cacheReadTokens: count,
      cacheWriteTokens: count,
      cacheWrite1hTokens: count,
      outputTokens: count,
      reasoningTokens: count,
      audioInputTokens: count,
      audioCacheReadTokens: count,
      imageInputTokens: count,
      audioOutputTokens: count,
      imageOutputTokens: count,
      webSearches: count,
      fileSearches: count,
      mapSearches: count,
      attachmentSearches: count,
      codeRuns: count,
      xPosts: count,
      xProfiles: count,
      imageToolTextTokens: count,
      imageToolImageTokens: count,
      imageToolOutputTokens: count,
    },
    { requiredKeys: [] },
  )
  .map((told) => ({ ...noUsage, ...told }));

interface Call {
  readonly price: AnyPrice;
  readonly usage: Usage | MediaUsage;
  readonly costNano: bigint;
}
const text: fc.Arbitrary<Call> = fc
  .tuple(textPrice, textUsage)
  .map(([price, usage]) => ({ price, usage, costNano: priceUsage(price, usage) }));

const [quality, imageSize, resolution] = ["low", "2K", "720p"] as const;
const imagesUsage = fc.record({
  unit: fc.constant("images" as const),
  outputImages: count,
  inputImages: count,
  quality: fc.constantFrom(quality, "high", undefined),
  imageSize: fc.constant(imageSize),
});
const sizes = dear.map((one) => ({ "1K": 1n, [imageSize]: one }));
const media: fc.Arbitrary<readonly [MediaPrice, MediaUsage]> = fc.oneof(
  fc.tuple(
    fc.record({
      basis: fc.constant("image_tokens" as const),
      input: rate,
      imageInput: rate,
      output: rate,
      imageOutput: dear,
    }),
    fc.record({
      unit: fc.constant("image_tokens" as const),
      inputTextTokens: count,
      inputImageTokens: count,
      outputTextTokens: count,
      outputImageTokens: count,
    }),
  ),
  fc.tuple(
    fc.record({
      basis: fc.constant("image_tiers" as const),
      outputImage: fc.record({ [quality]: sizes, medium: sizes }),
      inputImage: rate,
    }),
    imagesUsage,
  ),
  fc.tuple(
    fc.record({
      basis: fc.constant("images" as const),
      outputImage: fc.oneof(dear, sizes),
      inputImage: rate,
    }),
    imagesUsage,
  ),
  fc.tuple(
    fc.record({
      basis: fc.constant("video_seconds" as const),
      outputSecond: fc.record({ [resolution]: dear }),
      inputImage: rate,
    }),
    fc.record({
      unit: fc.constant("video_seconds" as const),
      seconds: fc.nat({ max: 60_000_000 }).map((micros) => micros / 1_000_000),
      resolution: fc.constant(resolution),
      inputImages: count,
    }),
  ),
  fc.tuple(
    fc.record({ basis: fc.constant("video_tokens" as const), outputVideoToken: dear }),
    fc.record({ unit: fc.constant("video_tokens" as const), tokens: count }),
  ),
);
const made: fc.Arbitrary<Call> = media.map(([price, usage]) => ({
  price,
  usage,
  costNano: priceMedia(price, usage),
}));

const asLogged = (value: object): object => JSON.parse(JSON.stringify(value)) as object;

it("BILL-01: the price lines of any call add up to its charge, to the last digit", () => {
  fc.assert(
    fc.property(fc.oneof(text, made), ({ price, usage, costNano }) => {
      const charged = chargeFor(costNano, { log: silentLog, id: "req_1" });
      const { price_lines: lines, price_lines_from: from } = chargeLines({
        model: "a/b",
        provider: "acme",
        usage: asLogged(usage),
        cost_nano: charged,
        explanation: null,
        price: asLogged(storedPrice(price)),
      });
      expect(from).toBe(lines!.length > 0 ? "call" : null);
      const sum = lines!.reduce((all, { amount }) => all + exactUsd(amount), 0n);
      expect(sum).toBe(charged * 1_000_000n);
      // Each line is its quantity times its rate; rates per million apply to tokens.
      for (const { quantity, unit_price: each, per, amount } of lines!) {
        const times = exactUsd(quantity) * exactUsd(each);
        const by = per === "million_tokens" ? 10n ** 21n : 10n ** 15n;
        expect({ times }).toEqual({ times: exactUsd(amount) * by });
      }
      expect(lines!.filter(({ name }) => name === "limit")).toHaveLength(
        costNano > charged ? 1 : 0,
      );
    }),
    { numRuns: 1_000 },
  );
});

it("the price line of a cached answer is its charge", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 10n ** 16n }), (charged) => {
      const row = { model: "a/b", provider: null, usage: null, price: null };
      const lines = chargeLines({ ...row, cost_nano: charged, explanation: { cache: "hit" } });
      expect(lines.price_lines!.map(({ amount }) => exactUsd(amount))).toEqual([
        charged * 1_000_000n,
      ]);
    }),
  );
});
