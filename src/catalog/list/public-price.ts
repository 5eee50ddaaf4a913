/** The price of a model in the public list: every rate checked, each as decimal text. */
import { isObject, type WireObject } from "../../base/json.ts";
import { parseUsd } from "../../base/money.ts";
import { decimalOf } from "./decimal.ts";
import type { ListedPrice, ListedRates } from "./types.ts";

/** A number of a JSON text, as it stands there. */
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
  /** Absent where the list has no price, or one that cannot be charged here. */
  readonly rates?: ListedPrice;
  /** Whether audio has rates of its own, which are not charged here. */
  readonly hasAudio: boolean;
}

/** More than this for a million tokens is a mistake of the list: the dearest model there ever was took 600. */
const usdMax = parseUsd("10000");
/** Less, but for nothing at all, is a price of one token: the cheapest model there ever was took a hundred times as much. */
const usdMin = parseUsd("0.0001");

/** Each rate by the names that lists have for it. */
const names: Readonly<Record<keyof ListedRates, readonly string[]>> = {
  input: ["input"],
  output: ["output"],
  cache_read: ["cache_read", "cached_input", "cache_input"],
  cache_write: ["cache_write", "cached_write"],
  reasoning: ["reasoning"],
};

/** What is charged beside tokens, and cannot be counted here: such a model has no price that would be true. */
const beyondTokens = ["request", "citation", "image"];

/** Reads `cost`; what is wrong with it is added to `faults`. */
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
 * Without the parts that are said to cost nothing where their whole has a price: lists write 0 for what they do not know.
 * Such a part is charged as the rest of its whole.
 */
function withoutUnknown(rates: ListedRates): ListedRates {
  const { cache_read, cache_write, reasoning, ...whole } = rates;
  const known = (name: string, rate: string | undefined, ofWhole: string): object =>
    rate === undefined || (rate === "0" && ofWhole !== "0") ? {} : { [name]: rate };
  return {
    ...whole,
    // In the order of the lists that are kept: another one would be a change of each model.
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
