/** How a charge came about, for who looks at a call later: line by line, by the rule that charged it. docs/management.md. */
import { amountNanoMax, type NanoUsd } from "../../base/money.ts";
import { priceLines, requestPart, sumOfParts, type PriceLine } from "../../base/price-parts.ts";
import type { Catalog } from "../../catalog/index.ts";
import { partsAt, priceOfKept, type AnyPrice } from "../../media/index.ts";

/** What the log has of a charge. */
export interface Charged {
  readonly model: string | null;
  readonly provider: string | null;
  /** As the call was billed by it; null where nothing was made. */
  readonly usage: object | null;
  readonly cost_nano: NanoUsd;
  readonly explanation: { readonly cache?: string } | null;
  /** What it was charged by; null in a row of before prices were kept. */
  readonly price: object | null;
}

export interface ChargeLines {
  /** Their amounts add up to the charge exactly; null where what it was charged by is not known any more. */
  readonly price_lines: readonly PriceLine[] | null;
  /** `call`: what was kept with it. `catalog`: prices in force now, which lead to the same charge. Null where there are no lines. */
  readonly price_lines_from: "call" | "catalog" | null;
}

const nothing: ChargeLines = { price_lines: [], price_lines_from: null };
const unknown: ChargeLines = { price_lines: null, price_lines_from: null };

/**
 * The lines of a charge, by what the log has of it. A row of before prices were kept is explained by prices in force now, where an
 * offer of its provider in `catalog` still leads to the charge.
 */
export function chargeLines(charged: Charged, catalog?: Catalog): ChargeLines {
  const { usage, cost_nano: costNano, explanation, price } = charged;
  // An answer of the response cache, charged as its key says.
  if (explanation?.cache === "hit" && costNano > 0n)
    return from("call", priceLines([requestPart("cached_answer", costNano)]));
  if (usage === null) return costNano === 0n ? nothing : unknown;
  if (price !== null) return from("call", linesAt(priceOfKept(price), usage, costNano));
  return catalog === undefined ? unknown : from("catalog", linesNow(catalog, charged, usage));
}

function from(source: "call" | "catalog", lines: readonly PriceLine[] | undefined): ChargeLines {
  if (lines === undefined) return unknown;
  return lines.length === 0 ? nothing : { price_lines: lines, price_lines_from: source };
}

function linesNow(catalog: Catalog, charged: Charged, usage: object): PriceLine[] | undefined {
  const offers = catalog.models.get(charged.model ?? "")?.offers ?? [];
  for (const { provider, price } of offers) {
    if (provider !== charged.provider) continue;
    const lines = linesAt(price, usage, charged.cost_nano);
    if (lines !== undefined) return lines;
  }
  return undefined;
}

/** Undefined where they do not lead to the charge. What a call cost beyond the most that one call is charged is a line, too. */
function linesAt(price: AnyPrice, usage: object, costNano: NanoUsd): PriceLine[] | undefined {
  const parts = partsAt(price, usage);
  if (parts === undefined) return undefined;
  const sum = sumOfParts(parts);
  const isCut = sum > costNano && costNano === amountNanoMax;
  return sum === costNano || isCut ? priceLines(parts, costNano) : undefined;
}
