/**
 * The price by which a call was charged, as the log stores it, and the parts of a charge by it. So a later price change leaves
 * the lines of older calls as they were. For any kind of price, including text.
 */
import { GatewayError } from "../base/errors.ts";
import { memoizeByObject } from "../base/memoize.ts";
import type { PricePart } from "../base/price-parts.ts";
import { noUsage, type Usage } from "../base/usage.ts";
import { usageParts, type FixedPrice, type MediaPrice } from "../catalog/index.ts";
import { mediaParts } from "./price.ts";
import type { MediaUsage } from "./types.ts";

export type AnyPrice = FixedPrice | MediaPrice;

type Plain = string | number | boolean | { readonly [name: string]: Plain } | readonly Plain[];

/** Prices of other times than the call's. */
const otherTimes: ReadonlySet<string> = new Set(["later", "hours", "otherHours"]);

/** Amounts become decimal text; numbers of tokens stay numbers. */
function plain(value: unknown): Plain {
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value as Plain;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, one]) => one !== undefined && !otherTimes.has(name))
      .map(([name, one]) => [name, plain(one)]),
  );
}

function priced(value: Plain): unknown {
  if (typeof value === "string") return /^\d+$/.test(value) ? BigInt(value) : value;
  if (typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(priced);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, priced(one)]));
}

/** The log's form of a price: JSON, one object for each price. Rows of older versions have these names, so they must stay. */
export const storedPrice = memoizeByObject((price: AnyPrice): object => plain(price) as object);

/** The price from which {@link storedPrice} made this object. */
export const priceOfStored = (kept: object): AnyPrice => priced(kept as Plain) as AnyPrice;

/** The parts of a charge. Undefined if the price is not one for such a usage, or has no rate for it. */
export function partsAt(price: AnyPrice, usage: object): readonly PricePart[] | undefined {
  if (!("basis" in price))
    return "unit" in usage ? undefined : usageParts(price, { ...noUsage, ...(usage as Usage) });
  if (!("unit" in usage) || unitOf(price) !== usage.unit) return undefined;
  try {
    return mediaParts(price, usage as MediaUsage);
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}

/** The unit of the usage that a price is for. */
const unitOf = ({ basis }: MediaPrice): MediaUsage["unit"] =>
  basis === "image_tiers" ? "images" : basis;
