/** A call's page shows its price line by line: for every kind of price the lines are those of the offer that led to the charge. */
import { expect, it } from "vitest";
import { noUsage, type Usage } from "../../src/base/usage.ts";
import { chargeLines } from "../../src/calls/index.ts";
import {
  priceUsage,
  type Catalog,
  type FixedPrice,
  type MediaPrice,
} from "../../src/catalog/index.ts";
import { priceMedia, type MediaUsage } from "../../src/media/index.ts";
import { exactUsd } from "../support/exact-usd.ts";

const text: FixedPrice = { input: 5n, output: 7n, request: 11n };
const textUsage: Usage = { ...noUsage, inputTokens: 1_000_000, outputTokens: 3 };
const tokens: MediaPrice = {
  basis: "image_tokens",
  input: 13n,
  imageInput: 17n,
  output: 19n,
  imageOutput: 23n,
};
const tiers: MediaPrice = {
  basis: "image_tiers",
  outputImage: { low: { "1K": 29n }, high: { "1K": 31n } },
  inputImage: 37n,
};
const images: MediaPrice = { basis: "images", outputImage: { "2K": 41n }, inputImage: 43n };
const seconds: MediaPrice = {
  basis: "video_seconds",
  outputSecond: { "720p": 47_000_000n },
  inputImage: 53n,
};
const videoTokens: MediaPrice = { basis: "video_tokens", outputVideoToken: 59n };

/** The media prices, each with a usage that it can price. */
const media: readonly [MediaPrice, MediaUsage, readonly string[]][] = [
  [
    tokens,
    {
      unit: "image_tokens",
      inputTextTokens: 1,
      inputImageTokens: 2,
      outputTextTokens: 0,
      outputImageTokens: 3,
    },
    ["input_tokens", "input_image_tokens", "output_image_tokens", "rounding"],
  ],
  [
    tiers,
    { unit: "images", outputImages: 2, inputImages: 1, quality: "low", imageSize: "1K" },
    ["output_images", "input_images"],
  ],
  [images, { unit: "images", outputImages: 2, inputImages: 0, imageSize: "2K" }, ["output_images"]],
  [
    seconds,
    { unit: "video_seconds", seconds: 5.04, resolution: "720p", inputImages: 1 },
    ["output_video_seconds", "input_images"],
  ],
  [videoTokens, { unit: "video_tokens", tokens: 999_999 }, ["output_video_tokens", "rounding"]],
];

const offer = (provider: string, price: FixedPrice | MediaPrice) => ({ provider, price });
/** Every kind of price at one provider, behind dearer ones of another. */
const catalog = {
  models: new Map([
    [
      "a/b",
      {
        offers: [
          offer("zeta", { input: 500n, output: 0n }),
          ...[text, ...media.map(([price]) => price)].map((price) => offer("acme", price)),
        ],
      },
    ],
  ]),
} as unknown as Catalog;

const linesOf = (usage: object | null, costNano: bigint, provider: string | null = "acme") =>
  chargeLines(catalog, { model: "a/b", provider, usage, costNano, isRepeat: false });

it.each([
  { cost: priceUsage(text, textUsage), usage: textUsage, names: ["input_tokens", "output_tokens"] },
  ...media.map(([price, usage, names]) => ({ cost: priceMedia(price, usage), usage, names })),
])("the lines of a charge add up to it: $usage", ({ cost, usage, names }) => {
  expect(cost).toBeGreaterThan(0n);
  const lines = linesOf(usage, cost)!;
  expect(lines.map(({ name }) => name)).toEqual(expect.arrayContaining([...names]));
  expect(lines.reduce((sum, { amount }) => sum + exactUsd(amount), 0n)).toBe(cost * 1_000_000n);
});

it("what was free has no lines; what was charged for unknown reasons has none that are known", () => {
  expect(linesOf(null, 0n)).toEqual([]);
  expect(linesOf(null, 5n)).toBeNull();
});

it("a charge is taken apart by the prices of its own provider, and by no other", () => {
  const used: Usage = { ...noUsage, inputTokens: 1_000_000 };
  expect(linesOf(used, 500n, "zeta")).toMatchObject([{ name: "input_tokens" }]);
  expect(linesOf(used, 500n)).toBeNull();
  expect(linesOf(used, 500n, null)).toBeNull();
});

it("a charge whose price has changed since, or is gone, has no lines", () => {
  expect(linesOf(textUsage, priceUsage(text, textUsage) + 1n)).toBeNull();
  for (const model of ["a/c", null])
    expect(
      chargeLines(catalog, {
        model,
        provider: "acme",
        usage: textUsage,
        costNano: 17n,
        isRepeat: false,
      }),
    ).toBeNull();
  // A size that has no price any more.
  const gone: MediaUsage = { unit: "images", outputImages: 1, inputImages: 0, imageSize: "8K" };
  expect(linesOf(gone, 41n)).toBeNull();
});

it("images are not taken apart by a price of texts, though its rate for the request is what they cost", () => {
  const usage: MediaUsage = { unit: "images", outputImages: 1, inputImages: 0, imageSize: "8K" };
  expect(linesOf(usage, text.request!)).toBeNull();
});
