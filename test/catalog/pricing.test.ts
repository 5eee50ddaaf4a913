/** The prices of a text model in `GET /v1/models`. MODELS-08; T64. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { listModels } from "../../src/calls/index.ts";
import { mediaPricing } from "../../src/calls/pricing.ts";
import { formatUsd } from "../../src/base/money.ts";
import { noUsage } from "../../src/base/usage.ts";
import { catalogAt, usageParts, type TextModel } from "../../src/catalog/index.ts";
import { catalogIn } from "../support/config-text.ts";

const fileOf = (price: string): string => `
providers:
  - { id: p, dialect: openai, base_url: "https://api.example.com/v1", api_key: x }
models:
  - id: acme/talk
    kind: text
    context_length: 1000000
    max_output_tokens: 1000
    offers:
      - provider: p
        protocol: chat
        upstream_model: talk
        ${price}
`;

/** The price rows as short texts: billable, price, and conditions. */
function pricingOf(price: string, file = fileOf(price)): string[] {
  const [model] = listModels(catalogIn(file), undefined);
  return model!.pricing.map(({ billable, price_usd: usd, when = {} }) =>
    [billable, usd, ...Object.entries(when).flat()].join(" "),
  );
}

it("the price list of a text model has the rates of each tier after those of short calls", () => {
  const tiers =
    'price_tiers: [{ input_tokens: 32000, price: { input: "2", output: "5" } }, { input_tokens: 128000, price: { input: "3", cache_read: "0.3", output: "9", reasoning: "11" } }]';
  expect(
    pricingOf(`price: { input: "1", output: "4", request: "0.01" }\n        ${tiers}`),
  ).toEqual([
    "input_tokens 1",
    "cache_read_tokens 1",
    "cache_write_tokens 1",
    "output_tokens 4",
    "requests 0.01",
    "input_tokens 2 input_tokens_above 32000",
    "cache_read_tokens 2 input_tokens_above 32000",
    "cache_write_tokens 2 input_tokens_above 32000",
    "output_tokens 5 input_tokens_above 32000",
    "requests 0.01 input_tokens_above 32000",
    "input_tokens 3 input_tokens_above 128000",
    "cache_read_tokens 0.3 input_tokens_above 128000",
    "cache_write_tokens 3 input_tokens_above 128000",
    "output_tokens 9 input_tokens_above 128000",
    "reasoning_tokens 11 input_tokens_above 128000",
    "requests 0.01 input_tokens_above 128000",
  ]);
});

it("a reasoning rate that equals the output rate has no row", () => {
  expect(pricingOf('price: { input: "1", output: "4", reasoning: "4" }')).toEqual([
    "input_tokens 1",
    "cache_read_tokens 1",
    "cache_write_tokens 1",
    "output_tokens 4",
  ]);
});

it("the reasoning rate of Alibaba is that of all output of a call that reasoned", () => {
  const tier =
    'price_above: { input_tokens: 9, price: { input: "1", output: "4", reasoning: "7" } }';
  const price = `price: { input: "1", output: "4", reasoning: "6" }\n        ${tier}`;
  const rows = pricingOf(price, fileOf(price).replace("dialect: openai", "dialect: dashscope"));
  expect(rows.filter((row) => /^(output|reasoning)/.test(row))).toEqual([
    "output_tokens 4",
    "output_tokens 6 reasoning true",
    "output_tokens 4 input_tokens_above 9",
    "output_tokens 7 input_tokens_above 9 reasoning true",
  ]);
});

it("T54: the rate of one-hour cache writes is listed wherever such writes are charged", () => {
  const price = 'price: { input: "3", cache_write: "3.75", output: "15" }';
  const messages = fileOf(price).replace("protocol: chat", "protocol: messages");
  expect(pricingOf(price, messages.replace("dialect: openai", "dialect: anthropic"))).toEqual([
    "input_tokens 3",
    "cache_read_tokens 3",
    "cache_write_tokens 3.75",
    "cache_write_1h_tokens 6",
    "output_tokens 15",
  ]);
  expect(pricingOf(price)).not.toContain("cache_write_1h_tokens 6");
  const router = fileOf(price).replace("upstream_model: talk", "upstream_model: claude-sonnet-4.5");
  expect(pricingOf(price, router)).toContain("cache_write_1h_tokens 6");
  expect(
    pricingOf('price: { input: "3", cache_write: "3.75", cache_write_1h: "5", output: "15" }'),
  ).toContain("cache_write_1h_tokens 5");
});

it("the price list of an embedding model includes its price per call", () => {
  const file = `
providers:
  - { id: p, dialect: openai, base_url: "https://api.example.com/v1", api_key: x }
models:
  - id: acme/vectors
    kind: embedding
    context_length: 8000
    offers: [{ provider: p, upstream_model: vectors, price: { input: "0.02", request: "0.0001" } }]
`;
  expect(pricingOf("", file)).toEqual(["input_tokens 0.02", "requests 0.0001"]);
});

type When = Readonly<Record<string, string>>;
const rate = fc.integer({ min: 1, max: 9 }).map(String);
const rates = fc.record(
  {
    input: rate,
    output: rate,
    cache_read: rate,
    explicit_cache_read: rate,
    cache_write: rate,
    cache_write_1h: rate,
    reasoning: rate,
    audio_input: rate,
    audio_output: rate,
    image_output: rate,
    request: rate,
    web_search: rate,
  },
  { requiredKeys: ["input", "output"] },
);
const tiered = fc.record({
  price: rates,
  price_above: rates.map((price) => ({ input_tokens: 1_000, price })),
});
const hourly = fc.tuple(tiered, tiered, tiered).map(([usual, first, second]) => ({
  ...usual,
  price_hours: [
    { hours_utc: ["01:00-03:00"], ...first },
    { hours_utc: ["02:00-04:00"], ...second },
  ],
}));
/** Where the first has no rate, it has that of the second. */
const usual: Readonly<Record<string, string>> = {
  audio_input_tokens: "input_tokens",
  audio_cache_read_tokens: "cache_read_tokens",
  reasoning_tokens: "output_tokens",
  audio_output_tokens: "output_tokens",
  image_output_tokens: "output_tokens",
  cache_write_1h_tokens: "cache_write_tokens",
};
const used = {
  ...noUsage,
  cacheReadTokens: 10,
  cacheWriteTokens: 20,
  cacheWrite1hTokens: 10,
  outputTokens: 100,
  reasoningTokens: 10,
  audioInputTokens: 10,
  audioCacheReadTokens: 5,
  audioOutputTokens: 10,
  imageOutputTokens: 10,
  webSearches: 1,
};

it("T64 T54: the last row that fits a call has the rate that is charged, with tiers and hours", () => {
  const calls = ["00:30", "01:30", "02:30", "03:30"].flatMap((time) =>
    [500, 5_000].flatMap((inputTokens) =>
      [true, false].map((isExplicit) => ({ time, inputTokens, isExplicit })),
    ),
  );
  fc.assert(
    fc.property(hourly, (price) => {
      const lines = Object.entries(price).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
      const text = fileOf(lines.join("\n        "));
      const catalog = catalogIn(
        text.replace("dialect: openai", "dialect: anthropic").replace("chat", "messages"),
      );
      const [{ pricing } = expect.unreachable()] = listModels(catalog, undefined);
      for (const { time, inputTokens, isExplicit } of calls) {
        const fits = ({ hours_utc: hours, input_tokens_above: above, cache_type: type }: When) =>
          (hours === undefined || (hours.slice(0, 5) <= time && time < hours.slice(6))) &&
          (above === undefined || inputTokens > Number(above)) &&
          (type === undefined || isExplicit);
        const listed = new Map(
          pricing.flatMap((row) => (fits(row.when ?? {}) ? [[row.billable, row.price_usd]] : [])),
        );
        const now = catalogAt(catalog, Date.parse(`2026-11-30T${time}Z`));
        const [offer = expect.unreachable()] = (now.models.get("acme/talk") as TextModel).offers;
        const usage = { ...used, inputTokens, ...(isExplicit && { explicitCache: 1 as const }) };
        const charged = new Map(
          usageParts(offer.price, usage).map(({ name, rate: nano }) => [name, formatUsd(nano)]),
        );
        // No vendor has both sound and caches by markers.
        const names = [...charged.keys(), "requests", "web_searches", ...Object.keys(usual)].filter(
          (name) => !(isExplicit && name === "audio_cache_read_tokens"),
        );
        const ratesIn = (of: ReadonlyMap<string, string>) =>
          names.map((name) => [name, of.get(name) ?? of.get(usual[name]!) ?? "0"]);
        expect(ratesIn(listed)).toEqual(ratesIn(charged));
      }
    }),
    { numRuns: 50 },
  );
});

it("MODELS-08: the price list of an image or video model has a row for each rate, by what selects it", () => {
  const usd = 1_000_000_000n;
  const rowsOf = (price: Parameters<typeof mediaPricing>[0]) =>
    mediaPricing(price).map(({ billable, unit, price_usd, when = {} }) =>
      [billable, unit, price_usd, ...Object.entries(when).flat()].join(" "),
    );
  const inputImage = 9n * usd;
  const input = "input_images image 9";
  const outputImage = { low: { "1K": usd, "2K": 2n * usd }, high: { "1K": 3n * usd } };
  expect(rowsOf({ basis: "image_tiers", outputImage, inputImage })).toEqual([
    "output_images image 1 quality low image_size 1K",
    "output_images image 2 quality low image_size 2K",
    "output_images image 3 quality high image_size 1K",
    input,
  ]);
  expect(rowsOf({ basis: "images", outputImage: usd, inputImage })).toEqual([
    "output_images image 1",
    input,
  ]);
  expect(rowsOf({ basis: "images", outputImage: outputImage.low, inputImage })).toEqual([
    "output_images image 1 image_size 1K",
    "output_images image 2 image_size 2K",
    input,
  ]);
  expect(rowsOf({ basis: "video_seconds", outputSecond: { "480p": usd }, inputImage })).toEqual([
    "output_video_seconds second 1 resolution 480p",
    input,
  ]);
  expect(rowsOf({ basis: "video_tokens", outputVideoToken: usd })).toEqual([
    "output_video_tokens million_tokens 1",
  ]);
  const rates = { input: usd, imageInput: 2n * usd, output: 3n * usd, imageOutput: 4n * usd };
  expect(rowsOf({ basis: "image_tokens", ...rates })).toEqual([
    "input_tokens million_tokens 1",
    "input_image_tokens million_tokens 2",
    "output_tokens million_tokens 3",
    "output_image_tokens million_tokens 4",
  ]);
});
