/** Converts prices of text models from configuration rows to the catalogue, and back. */
import { formatUsd, parseUsd, type NanoUsd } from "../base/money.ts";
import type { EmbeddingPriceRow, PriceRow, TextPriceRow } from "./price-schema.ts";
import { momentText } from "./record-rows.ts";
import { toolRates } from "./tool-rates.ts";
import type { FixedPrice, HourlyPrice, PriceTier, TextPrice, TextRates } from "./price-types.ts";

/** Parses an optional amount, in nano-USD. @throws RangeError */
export const usdOrNone = (text: string | undefined): NanoUsd | undefined =>
  text === undefined ? undefined : parseUsd(text);

function ratesOf(row: TextPriceRow): TextRates {
  return {
    input: parseUsd(row.input),
    cacheRead: usdOrNone(row.cache_read),
    explicitCacheRead: usdOrNone(row.explicit_cache_read),
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

type HourlyRow = FixedRow & Pick<PriceRow, "price_hours">;

/** Hours without a rate of {@link anyLength} take it from the price, as tiers do. */
function hourlyPriceOf(row: HourlyRow): HourlyPrice {
  const price = fixedPriceOf(row);
  if (row.price_hours === undefined) return price;
  const hours = row.price_hours.map(({ hours_utc, days, except, ...own }) => ({
    hoursUtc: hours_utc,
    days,
    except,
    price: fixedPriceOf({ ...own, price: { ...ofAnyLength(row.price), ...own.price } }),
  }));
  return { ...price, hours };
}

export function priceOfRow(row: PriceRow): TextPrice {
  const price = hourlyPriceOf(row);
  if (row.later_prices === undefined) return price;
  const later = row.later_prices.map((dated) => ({
    fromMs: Date.parse(dated.from),
    price: hourlyPriceOf(dated),
  }));
  return { ...price, later };
}

const asText = (price: EmbeddingPriceRow["price"]): TextPriceRow => ({ ...price, output: "0" });

/** An embedding costs its input and its calls. The output has no tokens, so its rate is 0. */
export const embeddingPriceOf = ({ price, price_hours }: EmbeddingPriceRow): TextPrice =>
  priceOfRow({
    price: asText(price),
    price_hours: price_hours?.map((hours) => ({ ...hours, price: asText(hours.price) })),
  });

/** An amount as a configuration row has it, in USD. */
export const usd = (amount: NanoUsd | undefined): string | undefined =>
  amount === undefined ? undefined : formatUsd(amount);

const ratesRow = (rates: TextRates) => ({
  input: usd(rates.input),
  cache_read: usd(rates.cacheRead),
  explicit_cache_read: usd(rates.explicitCacheRead),
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

const hourlyPriceRow = (price: HourlyPrice) => ({
  ...fixedPriceRow(price),
  price_hours: price.hours?.map(({ hoursUtc, days, except, price: own }) => ({
    hours_utc: hoursUtc,
    days,
    except,
    ...fixedPriceRow(own),
  })),
});

const embeddingRates = ({ input, request }: ReturnType<typeof ratesRow>) => ({ input, request });

/** The same for an embedding. */
export function embeddingPriceRow(whole: TextPrice) {
  const { price, price_hours } = priceRow(whole);
  return {
    price: embeddingRates(price),
    price_hours: price_hours?.map(({ hours_utc, days, except, ...own }) => ({
      hours_utc,
      days,
      except,
      price: embeddingRates(own.price),
    })),
  };
}

/** The row has the price of other hours in `price`, whatever the hour. */
export const priceRow = ({ otherHours, ...price }: TextPrice) => ({
  ...hourlyPriceRow(otherHours ? { ...otherHours, hours: price.hours } : price),
  later_prices: price.later?.map((dated) => ({
    from: momentText(dated.fromMs),
    ...hourlyPriceRow(dated.price),
  })),
});
