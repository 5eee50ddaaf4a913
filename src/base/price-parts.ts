/** The one rule that turns counts and rates into an amount, for charging and for showing a charge. docs/decisions.md "Money". */
import { formatDecimal, formatUsd, type NanoUsd } from "./money.ts";

/** The unit that a rate is the price of. */
export type PriceUnit = "million_tokens" | "image" | "second" | "request" | "search" | "item";

/** One item of a charge. */
export interface PricePart {
  /** The name of the item, such as `cache_read_tokens`. */
  readonly name: string;
  /** The quantity in millionths of `per`: tokens are counted one by one, seconds to the microsecond. */
  readonly millionths: bigint;
  /** Nano-USD for one `per`. */
  readonly rate: NanoUsd;
  readonly per: PriceUnit;
}

/** A part for display: exact decimal text. */
export interface PriceLine {
  readonly name: string;
  /** Tokens, images, seconds, requests, searches or items. */
  readonly quantity: string;
  readonly unit_price: string;
  readonly per: PriceUnit;
  /** USD, exact: with up to 15 decimals. */
  readonly amount: string;
}

const million = 1_000_000n;

/** Returns the exact sum, in millionths of a nano-dollar. */
const exactSum = (parts: readonly PricePart[]): bigint => {
  let sum = 0n;
  for (const { millionths, rate } of parts) sum += millionths * rate;
  return sum;
};

/** Returns the amount in nano-USD: the exact sum, rounded up once. */
export const sumOfParts = (parts: readonly PricePart[]): NanoUsd =>
  (exactSum(parts) + million - 1n) / million;

/** Returns the part for `count` images at `rate` each. */
export const imagesPart = (name: string, count: number, rate: NanoUsd): PricePart => ({
  name,
  millionths: BigInt(count) * million,
  rate,
  per: "image",
});

/** Returns the part for one call at `rate`. */
export const requestPart = (name: string, rate: NanoUsd): PricePart => ({
  name,
  millionths: million,
  rate,
  per: "request",
});

/** Returns the part for `count` of a unit. */
export const unitsPart = (
  name: string,
  count: number,
  { rate, per }: Pick<PricePart, "rate" | "per">,
): PricePart => ({
  name,
  millionths: per === "million_tokens" ? BigInt(count) : BigInt(count) * million,
  rate,
  per,
});

/** Returns the part for `count` tokens at `rate` per million. */
export const tokensPart = (name: string, count: number | bigint, rate: NanoUsd): PricePart => ({
  name,
  millionths: BigInt(count),
  rate,
  per: "million_tokens",
});

const lineOf = ({ name, millionths, rate, per }: PricePart): PriceLine => ({
  name,
  quantity: per === "million_tokens" ? String(millionths) : formatDecimal(millionths, 6),
  unit_price: formatUsd(rate),
  per,
  amount: formatDecimal(millionths * rate, 15),
});

/** Returns the difference between charge and exact sum as a line of its own: above it by rounding, or below it by the limit of one call. */
function lastLine(parts: readonly PricePart[], charged: NanoUsd): PriceLine[] {
  const added = charged * million - exactSum(parts);
  if (added === 0n) return [];
  const name = added > 0n ? "rounding" : "limit";
  const amount = formatDecimal(added, 15);
  return [{ name, quantity: "1", unit_price: amount, per: "request", amount }];
}

/** Returns the parts that are not empty, and the rounding or limit: their amounts add up to exactly the charge. */
export const priceLines = (
  parts: readonly PricePart[],
  charged = sumOfParts(parts),
): PriceLine[] => [
  ...parts.filter(({ millionths }) => millionths > 0n).map(lineOf),
  ...lastLine(parts, charged),
];
