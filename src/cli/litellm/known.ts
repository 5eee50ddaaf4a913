/** Looks models up in the shipped list: limits, abilities, prices. docs/models.md. */
import { getOrCreate } from "../../base/memoize.ts";
import { buildAdded, modelRow, shippedList, vendorRows, type Model } from "../../catalog/index.ts";

const lists = new Map<string, ReadonlyMap<string, Model>>();

/**
 * Returns a vendor's models in the list, by the vendor's own names; empty if the vendor is not in the list. Prices may depend on the address;
 * without `baseUrl` they are those of the vendor's own.
 */
export function listOf(vendor: string, baseUrl?: string): ReadonlyMap<string, Model> {
  return getOrCreate(lists, `${vendor} ${baseUrl}`, () =>
    vendorRows().some(({ id }) => id === vendor) ? readList(vendor, baseUrl) : new Map(),
  );
}

function readList(vendor: string, baseUrl: string | undefined): ReadonlyMap<string, Model> {
  const credentials = [{ id: "default", apiKey: "none", weight: 1 }];
  const settings = { vendor, ...(baseUrl !== undefined && { base_url: baseUrl }) };
  const added = { id: vendor, settings, credentials };
  const { models } = buildAdded(added, { list: shippedList, allowPrivate: true });
  return new Map(models.map((model) => [model.offers[0]!.upstreamModel, model]));
}

/** Finds a model by its name at the vendor, with or without its date; undefined if it is not in the list. */
export function knownModel(
  vendor: string | undefined,
  name: string,
  baseUrl?: string,
): Model | undefined {
  if (vendor === undefined) return undefined;
  const list = listOf(vendor, baseUrl);
  const undated = name.replace(/[-@](\d{8}|\d{4}-\d{2}-\d{2}|latest|default)$/, "");
  return list.get(name) ?? list.get(name.replace("@", "-")) ?? list.get(undated);
}

/** Returns the price of a known model's first offer in our file's format; undefined if the model is not billed by tokens. */
export function listedPrice(model: Model): Record<string, unknown> | undefined {
  if (model.kind !== "text" && model.kind !== "embedding") return undefined;
  const { offers } = modelRow(model);
  const { price, price_above, price_tiers, later_prices } = offers[0] as Record<string, unknown>;
  return plain({ price, price_above, price_tiers, later_prices });
}

/** Returns limits and abilities of a known model in our file's format. */
export function recordRow(model: Model): Record<string, unknown> {
  const {
    id: _id,
    name: _name,
    description: _description,
    created: _created,
    aliases: _aliases,
    kind: _kind,
    offers: _offers,
    ...record
  } = modelRow(model) as Record<string, unknown>;
  return plain(record);
}

/** Removes undefined fields. */
const plain = (row: Record<string, unknown>): Record<string, unknown> =>
  JSON.parse(JSON.stringify(row)) as Record<string, unknown>;
