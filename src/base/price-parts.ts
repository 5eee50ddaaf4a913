/**
 * A price taken apart: the one rule by which counts and rates become an amount, for charging and for showing a charge.
 * docs/decisions.md "Money".
 */
import { formatDecimal, formatUsd, type NanoUsd } from "./money.ts";

/** What a rate is the price of. */
export type PriceUnit = "million_tokens" | "image" | "second" | "request" | "search";

/** One thing that is charged for. */
export interface PricePart {
  /** Of what, such as `cache_read_tokens`. */
  readonly name: string;
  /** How much, in millionths of `per`: tokens are counted one by one, seconds to the microsecond. */
  readonly millionths: bigint;
  /** Nano-USD for one `per`. */
  readonly rate: NanoUsd;
  readonly per: PriceUnit;
}

/** A part as people read it: exact decimal text. */
export interface PriceLine {
  readonly name: string;
  /** Tokens, images, seconds, requests or searches. */
  readonly quantity: string;
  readonly unit_price: string;
  readonly per: PriceUnit;
  /** USD with as many decimals as it has: up to 15. */
  readonly amount: string;
}

const million = 1_000_000n;

/** The exact sum, in millionths of a nano-dollar. */
const exactSum = (parts: readonly PricePart[]): bigint => {
  let sum = 0n;
  for (const { millionths, rate } of parts) sum += millionths * rate;
  return sum;
};

/** The amount in nano-USD: the exact sum, rounded up once. */
export const sumOfParts = (parts: readonly PricePart[]): NanoUsd =>
  (exactSum(parts) + million - 1n) / million;

/** Of so many images at a rate each. */
export const imagesPart = (name: string, count: number, rate: NanoUsd): PricePart => ({
  name,
  millionths: BigInt(count) * million,
  rate,
  per: "image",
});

/** Of one call at a rate. */
export const requestPart = (name: string, rate: NanoUsd): PricePart => ({
  name,
  millionths: million,
  rate,
  per: "request",
});

/** Of so many searches at a rate each. */
export const searchesPart = (name: string, count: number, rate: NanoUsd): PricePart => ({
  name,
  millionths: BigInt(count) * million,
  rate,
  per: "search",
});

/** Of so many tokens at a rate for a million. */
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

/** What a charge is above the exact sum of the other lines, by rounding, or below it, by the limit of one call; as a line of its own. */
function lastLine(parts: readonly PricePart[], charged: NanoUsd): PriceLine[] {
  const added = charged * million - exactSum(parts);
  if (added === 0n) return [];
  const name = added > 0n ? "rounding" : "limit";
  const amount = formatDecimal(added, 15);
  return [{ name, quantity: "1", unit_price: amount, per: "request", amount }];
}

/** The parts there is something of, and what was rounded or cut: their amounts add up to what was charged, exactly. */
export const priceLines = (
  parts: readonly PricePart[],
  charged = sumOfParts(parts),
): PriceLine[] => [
  ...parts.filter(({ millionths }) => millionths > 0n).map(lineOf),
  ...lastLine(parts, charged),
];
