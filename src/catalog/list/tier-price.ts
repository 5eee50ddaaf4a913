/** Tiers for long calls, where the public list is known to differ from what a vendor bills. docs/models.md. */
import type { ListedPrice, VendorRow } from "./types.ts";

/** Returns the price of a model in another vendor's list; undefined if there is none. */
export type PriceAt = (list: string, model: string) => ListedPrice | undefined;

/** The price with the tiers that the vendor bills: without those that are gone, and with those that its own list leaves out. */
export function withBilledTiers(
  { flat, tiers_from: sources = {} }: VendorRow,
  { model, price, priceAt }: { model: string; price: ListedPrice; priceAt: PriceAt },
): ListedPrice {
  const { above, ...rates } = price;
  if (flat !== undefined && new RegExp(flat).test(model)) return rates;
  const source = Object.entries(sources).find(([prefix]) => model.startsWith(prefix));
  if (above !== undefined || source === undefined) return price;
  const [prefix, list] = source;
  const own = priceAt(list, model.slice(prefix.length));
  // At another price the vendor may have other tiers.
  const isSame = own?.input === price.input && own.output === price.output;
  return isSame && own.above ? { ...price, above: own.above } : price;
}
