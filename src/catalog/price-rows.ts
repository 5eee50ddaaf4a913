/** Converts prices of text models from configuration rows to the catalogue, and back. */
import { formatUsd, parseUsd, type NanoUsd } from "../base/money.ts";
import type { PriceRow, TextPriceRow } from "./price-schema.ts";
import { momentText } from "./record-rows.ts";
import { toolRates } from "./tool-rates.ts";
import type { FixedPrice, PriceTier, TextPrice, TextRates } from "./types.ts";

/** Parses an optional amount, in nano-USD. @throws RangeError */
export const usdOrNone = (text: string | undefined): NanoUsd | undefined =>
  text === undefined ? undefined : parseUsd(text);

function ratesOf(row: TextPriceRow): TextRates {
  return {
    input: parseUsd(row.input),
    cacheRead: usdOrNone(row.cache_read),
    cacheWrite: usdOrNone(row.cache_write),
    cacheWrite1h: usdOrNone(row.cache_write_1h),
    output: parseUsd(row.output),
    reasoning: usdOrNone(row.reasoning),
    audioInput: usdOrNone(row.audio_input),
    audioOutput: usdOrNone(row.audio_output),
    imageOutput: usdOrNone(row.image_output),
    request: usdOrNone(row.request),
    ...Object.fromEntries(toolRates.map(({ rate, row: name }) => [rate, usdOrNone(row[name])])),
  };
}

type FixedRow = Pick<PriceRow, "price" | "price_above" | "price_tiers">;

/** Rates that do not depend on a call's length: a tier without them takes them from the price. */
const anyLength = ["request", ...toolRates.map(({ row }) => row)] as const;
const ofAnyLength = (row: TextPriceRow): Partial<TextPriceRow> =>
  Object.fromEntries(
    anyLength.flatMap((name) => (row[name] === undefined ? [] : [[name, row[name]]])),
  );

function fixedPriceOf(row: FixedRow): FixedPrice {
  const tiers = row.price_tiers ?? (row.price_above ? [row.price_above] : undefined);
  const above = tiers?.map((tier): PriceTier => ({
    inputTokens: tier.input_tokens,
    rates: ratesOf({ ...ofAnyLength(row.price), ...tier.price }),
  }));
  return { ...ratesOf(row.price), above };
}

export function priceOfRow(row: PriceRow): TextPrice {
  const price = fixedPriceOf(row);
  if (row.later_prices === undefined) return price;
  const later = row.later_prices.map((dated) => ({
    fromMs: Date.parse(dated.from),
    price: fixedPriceOf(dated),
  }));
  return { ...price, later };
}

/** An amount as a configuration row has it, in USD. */
export const usd = (amount: NanoUsd | undefined): string | undefined =>
  amount === undefined ? undefined : formatUsd(amount);

const ratesRow = (rates: TextRates) => ({
  input: usd(rates.input),
  cache_read: usd(rates.cacheRead),
  cache_write: usd(rates.cacheWrite),
  cache_write_1h: usd(rates.cacheWrite1h),
  output: usd(rates.output),
  reasoning: usd(rates.reasoning),
  audio_input: usd(rates.audioInput),
  audio_output: usd(rates.audioOutput),
  image_output: usd(rates.imageOutput),
  request: usd(rates.request),
  ...Object.fromEntries(toolRates.map(({ rate, row }) => [row, usd(rates[rate])])),
});

function fixedPriceRow(price: FixedPrice) {
  const tiers = price.above?.map(({ inputTokens, rates }) => ({
    input_tokens: inputTokens,
    price: ratesRow(rates),
  }));
  const isOne = tiers?.length === 1;
  return {
    price: ratesRow(price),
    price_above: isOne ? tiers[0] : undefined,
    price_tiers: isOne ? undefined : tiers,
  };
}

export const priceRow = (price: TextPrice) => ({
  ...fixedPriceRow(price),
  later_prices: price.later?.map((dated) => ({
    from: momentText(dated.fromMs),
    ...fixedPriceRow(dated.price),
  })),
});
