/** A call's page shows its price line by line: for every kind of price, the lines of the offer that led to the charge. */
import { expect, it } from "vitest";
import { amountNanoMax } from "../../src/base/money.ts";
import { noUsage, type Usage } from "../../src/base/usage.ts";
import {
  priceUsage,
  type Catalog,
  type FixedPrice,
  type MediaPrice,
} from "../../src/catalog/index.ts";
import { chargeLines } from "../../src/admin/index.ts";
import { storedPrice, priceMedia, type MediaUsage } from "../../src/media/index.ts";
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
const silentSeconds: MediaPrice = {
  basis: "video_seconds",
  outputSecond: { "1080p": { sound: 61_000_000n, silent: 67_000_000n } },
  inputImage: 0n,
};
const tokensBySound: MediaPrice = {
  basis: "video_tokens",
  outputVideoToken: { "480p": 71n, "720p": { sound: 73n, silent: 79n } },
};

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
  [
    silentSeconds,
    { unit: "video_seconds", seconds: 4, resolution: "1080p", silent: true, inputImages: 0 },
    ["output_video_seconds"],
  ],
  [
    tokensBySound,
    { unit: "video_tokens", tokens: 2_000_000, resolution: "720p", silent: true },
    ["output_video_tokens"],
  ],
];

const offer = (provider: string, price: FixedPrice | MediaPrice) => ({ provider, price });
/** Every kind of price at one provider, after more expensive ones of another. */
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

/** A row from before prices were kept. */
const old = { model: "a/b", provider: "acme", price: null, explanation: null };
const linesOf = (usage: object | null, costNano: bigint, provider: string | null = "acme") =>
  chargeLines({ ...old, provider, usage, cost_nano: costNano }, catalog).price_lines;

it.each([
  { cost: priceUsage(text, textUsage), usage: textUsage, names: ["input_tokens", "output_tokens"] },
  ...media.map(([price, usage, names]) => ({ cost: priceMedia(price, usage), usage, names })),
])("the lines add up to the charge: $usage", ({ cost, usage, names }) => {
  expect(cost).toBeGreaterThan(0n);
  const lines = linesOf(usage, cost)!;
  expect(lines.map(({ name }) => name)).toEqual(expect.arrayContaining([...names]));
  expect(lines.reduce((sum, { amount }) => sum + exactUsd(amount), 0n)).toBe(cost * 1_000_000n);
});

it.each([
  { price: text, usage: textUsage, cost: priceUsage(text, textUsage) },
  ...media.map(([price, usage]) => ({ price, usage, cost: priceMedia(price, usage) })),
])(
  "the price that was stored with a call is used, not the current one: $usage",
  ({ price, usage, cost }) => {
    const kept = JSON.parse(JSON.stringify(storedPrice(price))) as object;
    const charged = { ...old, usage, cost_nano: cost };
    const { price_lines: now } = chargeLines(charged, catalog);
    expect(chargeLines(charged, catalog).price_lines_from).toBe("catalog");
    // Its model and its provider no longer exist.
    const gone = { ...charged, model: "a/gone", provider: "gone" };
    expect(chargeLines(gone, catalog)).toEqual({ price_lines: null, price_lines_from: null });
    for (const row of [charged, gone])
      expect(chargeLines({ ...row, price: kept }, catalog)).toEqual({
        price_lines: now,
        price_lines_from: "call",
      });
  },
);

it("a stored price that does not give the charge yields no lines, and the current price is not tried", () => {
  const cost = priceUsage(text, textUsage);
  const price = storedPrice({ ...text, input: 6n });
  const charged = { ...old, usage: textUsage, cost_nano: cost };
  expect(chargeLines({ ...charged, price }, catalog).price_lines).toBeNull();
});

it("the part of a cost above the largest possible charge is a negative line", () => {
  const price: FixedPrice = {
    input: 1_000_000_000n,
    output: 0n,
    webSearch: 3_000_000_000_000_000n,
  };
  const usage: Usage = { ...noUsage, inputTokens: 1, webSearches: 4 };
  expect(priceUsage(price, usage)).toBeGreaterThan(amountNanoMax);
  const charged = { ...old, usage, cost_nano: amountNanoMax, price: storedPrice(price) };
  const { price_lines: lines } = chargeLines(charged);
  expect(lines!.map(({ name, amount }) => [name, amount])).toEqual([
    ["input_tokens", "0.000001"],
    ["web_searches", "12000000"],
    ["limit", "-2000000.000001"],
  ]);
});

it("a call that used nothing has no lines, and no source of lines", () => {
  const charged = { ...old, usage: { ...noUsage }, cost_nano: 0n };
  const none = { price_lines: [], price_lines_from: null };
  expect(chargeLines({ ...charged, price: storedPrice({ input: 5n, output: 7n }) })).toEqual(none);
  expect(chargeLines({ ...charged, usage: null })).toEqual(none);
});

it("a free call has no lines; for a charge without usage the lines are unknown", () => {
  expect(linesOf(null, 0n)).toEqual([]);
  expect(linesOf(null, 5n)).toBeNull();
});

it("a charge is explained only by the prices of its own provider", () => {
  const used: Usage = { ...noUsage, inputTokens: 1_000_000 };
  expect(linesOf(used, 500n, "zeta")).toMatchObject([{ name: "input_tokens" }]);
  expect(linesOf(used, 500n)).toBeNull();
  expect(linesOf(used, 500n, null)).toBeNull();
});

it("a charge whose price has changed or is gone has no lines", () => {
  expect(linesOf(textUsage, priceUsage(text, textUsage) + 1n)).toBeNull();
  for (const model of ["a/c", null])
    expect(
      chargeLines({ ...old, model, usage: textUsage, cost_nano: 17n }, catalog).price_lines,
    ).toBeNull();
  // A size that no longer has a price.
  const gone: MediaUsage = { unit: "images", outputImages: 1, inputImages: 0, imageSize: "8K" };
  expect(linesOf(gone, 41n)).toBeNull();
});

it("a charge for images is not explained by a text price, even if its price per request matches", () => {
  const usage: MediaUsage = { unit: "images", outputImages: 1, inputImages: 0, imageSize: "8K" };
  expect(linesOf(usage, text.request!)).toBeNull();
});
