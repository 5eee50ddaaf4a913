/** Reads and checks the prices of a model in the public list; every rate becomes decimal text. */
import { isObject, type WireObject } from "../../base/json.ts";
import { parseUsd } from "../../base/money.ts";
import { decimalOf } from "./decimal.ts";
import type { ListedPrice, ListedRates } from "./types.ts";

/** A number of a JSON text, as its original text. */
export class JsonNumber {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export interface PriceFault {
  readonly path: readonly string[];
  readonly message: string;
}

interface PriceRead {
  /** Absent if the list has no price, or one that the gateway cannot charge. */
  readonly rates?: ListedPrice;
  /** True if audio has rates of its own, which the gateway does not charge for listed models. */
  readonly hasAudio: boolean;
}

/** A higher price per million tokens is a mistake of the list: the most expensive model ever cost 600. */
const usdMax = parseUsd("10000");
/** A lower price, except 0, is a price per token: the cheapest model ever cost a hundred times as much. */
const usdMin = parseUsd("0.0001");

/** The names of each rate in lists. */
const names: Readonly<Record<keyof ListedRates, readonly string[]>> = {
  input: ["input"],
  output: ["output"],
  cache_read: ["cache_read", "cached_input", "cache_input"],
  cache_write: ["cache_write", "cached_write"],
  reasoning: ["reasoning"],
};

/** Charges beside tokens, which the gateway cannot count here. A model with one is treated as unpriced. */
const beyondTokens = ["request", "citation", "image"];

/** Reads `cost`; appends its mistakes to `faults`. */
export function readPrice(cost: unknown, path: readonly string[], faults: PriceFault[]): PriceRead {
  if (cost === undefined) return { hasAudio: false };
  if (!isObject(cost)) {
    faults.push({ path, message: "must be an object of prices" });
    return { hasAudio: false };
  }
  const rates = readRates(cost, path, faults);
  const above = readTiers(cost["tiers"], [...path, "tiers"], faults);
  const hasAudio = cost["input_audio"] !== undefined;
  if (rates === undefined || beyondTokens.some((name) => name in cost)) return { hasAudio };
  return { rates: above.length > 0 ? { ...rates, above } : rates, hasAudio };
}

function readRates(
  row: WireObject,
  path: readonly string[],
  faults: PriceFault[],
): ListedRates | undefined {
  const before = faults.length;
  const found = Object.entries(names).flatMap(([name, spellings]) => {
    const spelling = spellings.find((one) => row[one] !== undefined);
    if (spelling !== undefined) {
      const rate = readRate(row[spelling], [...path, spelling], faults);
      return rate === undefined ? [] : [[name, rate]];
    }
    if (name === "input" || name === "output")
      faults.push({ path: [...path, name], message: "is missing beside the other prices" });
    return [];
  });
  if (faults.length > before) return undefined;
  return withoutUnknown(Object.fromEntries(found));
}

/**
 * Drops parts with price 0 if their whole has a price: lists write 0 for unknown prices.
 * A dropped part is charged at the rate of its whole.
 */
function withoutUnknown(rates: ListedRates): ListedRates {
  const { cache_read, cache_write, reasoning, ...whole } = rates;
  const known = (name: string, rate: string | undefined, ofWhole: string): object =>
    rate === undefined || (rate === "0" && ofWhole !== "0") ? {} : { [name]: rate };
  return {
    ...whole,
    // In the order of the stored lists: another order would show every model as changed.
    ...known("cache_write", cache_write, whole.input),
    ...known("reasoning", reasoning, whole.output),
    ...known("cache_read", cache_read, whole.input),
  };
}

function readRate(
  value: unknown,
  path: readonly string[],
  faults: PriceFault[],
): string | undefined {
  const text = value instanceof JsonNumber ? decimalOf(value.text) : undefined;
  const why = faultOf(value, text);
  if (why === undefined) return text;
  faults.push({ path, message: why });
  return undefined;
}

function faultOf(value: unknown, text: string | undefined): string | undefined {
  if (!(value instanceof JsonNumber))
    return `must be a number of USD per million tokens, not ${JSON.stringify(value)}`;
  if (value.text.startsWith("-")) return `must not be negative (${value.text})`;
  if (text === undefined || text.length > 20 || parseUsd(text) > usdMax)
    return `${value.text} USD for a million tokens is absurd (the most is 10000)`;
  if (parseUsd(text) < usdMin && !isZero(value.text))
    return `${value.text} USD for a million tokens is absurd (the least is 0.0001, or 0): is it for one token?`;
  return undefined;
}

const isZero = (text: string): boolean => /^[0.]+(?:[eE].*)?$/.test(text);

type Tier = ListedRates & { readonly tokens: number };

function readTiers(tiers: unknown, path: readonly string[], faults: PriceFault[]): Tier[] {
  if (tiers === undefined) return [];
  if (!Array.isArray(tiers)) {
    faults.push({ path, message: "must be a list of prices by size of context" });
    return [];
  }
  return tiers
    .flatMap((tier: unknown, index) => readTier(tier, [...path, String(index)], faults))
    .sort((left, right) => left.tokens - right.tokens);
}

function readTier(tier: unknown, path: readonly string[], faults: PriceFault[]): Tier[] {
  const by = isObject(tier) && isObject(tier["tier"]) ? tier["tier"] : {};
  const { size, type = "context" } = by;
  const tokens = size instanceof JsonNumber ? Number(size.text) : 0;
  if (type !== "context" || !Number.isSafeInteger(tokens) || tokens <= 0) {
    faults.push({ path: [...path, "tier"], message: "must name a size of context in tokens" });
    return [];
  }
  const rates = readRates(tier as WireObject, path, faults);
  return rates === undefined ? [] : [{ tokens, ...rates }];
}
