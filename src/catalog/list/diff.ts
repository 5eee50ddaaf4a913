/** The price and model changes between a new list and the current one, for the operators who pay. docs/models.md. */
import { parseUsd } from "../../base/money.ts";
import type { ListedModel, ListedPrice, ListedRates, VendorRow } from "./types.ts";
import { listedId } from "./models.ts";

/** A model whose price changes; null: that list has no price, so the model cannot be called. */
export interface PriceChange {
  readonly model: string;
  readonly before: ListedPrice | null;
  readonly after: ListedPrice | null;
}

export interface ListDiff {
  /** Became callable. */
  readonly added: readonly PriceChange[];
  /** No longer callable. */
  readonly gone: readonly PriceChange[];
  /** At least one rate rises, even if others fall. */
  readonly dearer: readonly PriceChange[];
  readonly cheaper: readonly PriceChange[];
  /** Ids of models with other changes. */
  readonly changed: readonly string[];
}

const keyOf = ({ vendor, model }: ListedModel): string => `${vendor} ${model}`;

/** The differences between two lists, in the order of the new one; models that it lacks come last. */
export function listDiff(
  before: readonly ListedModel[],
  after: readonly ListedModel[],
  vendors: readonly VendorRow[],
): ListDiff {
  const rows = new Map(vendors.map((row) => [row.id, row]));
  const old = new Map(before.map((model) => [keyOf(model), model]));
  const next = new Map(after.map((model) => [keyOf(model), model]));
  const diff = {
    added: [] as PriceChange[],
    gone: [] as PriceChange[],
    dearer: [] as PriceChange[],
    cheaper: [] as PriceChange[],
    changed: [] as string[],
  };
  for (const key of new Set([...next.keys(), ...old.keys()])) {
    const [was, is] = [old.get(key), next.get(key)];
    const vendor = rows.get((is ?? was)!.vendor);
    if (vendor === undefined || JSON.stringify(was) === JSON.stringify(is)) continue;
    const model = listedId((is ?? was)!, vendor);
    const change = { model, before: was?.price ?? null, after: is?.price ?? null };
    const kind = kindOf(change);
    if (kind === "changed") diff.changed.push(model);
    else if (kind !== undefined) diff[kind].push(change);
  }
  return diff;
}

function kindOf({ before, after }: PriceChange): keyof ListDiff | undefined {
  if (before === null) return after === null ? undefined : "added";
  if (after === null) return "gone";
  const steps = priceSteps(before, after);
  if (steps.some(([was, is]) => is > was)) return "dearer";
  return steps.some(([was, is]) => is < was) ? "cheaper" : "changed";
}

/** Pairs of each rate before and after, at each context size where either price changes. */
function priceSteps(before: ListedPrice, after: ListedPrice): [bigint, bigint][] {
  const sizes = new Set([0, ...tokensOf(before), ...tokensOf(after)]);
  return [...sizes].flatMap((size) => {
    const is = ratesAt(after, size);
    return ratesAt(before, size).map((rate, index): [bigint, bigint] => [rate, is[index]!]);
  });
}

const tokensOf = ({ above = [] }: ListedPrice): number[] => above.map(({ tokens }) => tokens);

/** The rates above a context size. Absent rates are replaced by the ones that apply instead. */
function ratesAt(price: ListedPrice, size: number): bigint[] {
  const rates: ListedRates = price.above?.findLast(({ tokens }) => tokens <= size) ?? price;
  const { input, output, cache_read: read, cache_write: write, reasoning } = rates;
  return [input, output, read ?? input, write ?? input, reasoning ?? output].map(parseUsd);
}
