/** Explains a charge line by line, by the same rule that charged it. docs/management.md. */
import { amountNanoMax, type NanoUsd } from "../../base/money.ts";
import { priceLines, requestPart, sumOfParts, type PriceLine } from "../../base/price-parts.ts";
import type { Catalog } from "../../catalog/index.ts";
import { partsAt, priceOfStored, type AnyPrice } from "../../media/index.ts";

/** The log's fields of a charge. */
export interface Charged {
  readonly model: string | null;
  readonly provider: string | null;
  /** The billed usage; null if nothing was generated. */
  readonly usage: object | null;
  readonly cost_nano: NanoUsd;
  readonly explanation: { readonly cache?: string } | null;
  /** The price of the charge; null in rows from before prices were kept. */
  readonly price: object | null;
}

export interface ChargeLines {
  /** Their amounts add up to the charge exactly; null if its price is no longer known. */
  readonly price_lines: readonly PriceLine[] | null;
  /** `call`: the price kept with the call. `catalog`: current prices that give the same charge. Null without lines. */
  readonly price_lines_from: "call" | "catalog" | null;
}

const nothing: ChargeLines = { price_lines: [], price_lines_from: null };
const unknown: ChargeLines = { price_lines: null, price_lines_from: null };

/**
 * Returns the lines of a charge. For a row from before prices were kept, tries the current prices of its provider's offers in
 * `catalog`, and uses those that give the same charge.
 */
export function chargeLines(charged: Charged, catalog?: Catalog): ChargeLines {
  const { usage, cost_nano: costNano, explanation, price } = charged;
  // An answer from the response cache, charged by the key's setting.
  if (explanation?.cache === "hit" && costNano > 0n)
    return from("call", priceLines([requestPart("cached_answer", costNano)]));
  if (usage === null) return costNano === 0n ? nothing : unknown;
  if (price !== null) return from("call", linesAt(priceOfStored(price), usage, costNano));
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

/** Undefined if the parts do not add up to the charge. If the charge was cut to the maximum of one call, the rest is a line, too. */
function linesAt(price: AnyPrice, usage: object, costNano: NanoUsd): PriceLine[] | undefined {
  const parts = partsAt(price, usage);
  if (parts === undefined) return undefined;
  const sum = sumOfParts(parts);
  const isCut = sum > costNano && costNano === amountNanoMax;
  return sum === costNano || isCut ? priceLines(parts, costNano) : undefined;
}
