/**
 * `prices` of the configuration file: the operator's prices of models whose vendor a variable activates. They replace the list's
 * prices, or price models without one. docs/models.md, `Your own prices`.
 */
import type { TSchema } from "../base/json-schema.ts";
import { isObject, type WireObject } from "../base/json.ts";
import { buildCatalog } from "./build.ts";
import { mediaFamilies } from "./families.ts";
import { listedModel } from "./list/models.ts";
import type { ListedModel, VendorRow } from "./list/types.ts";
import { mediaModelRows } from "./media-models.ts";
import { mediaPrices } from "./media-price-schema.ts";
import { embeddingPriceOf, priceOfRow } from "./price-rows.ts";
import {
  ownEmbeddingPriceSchema,
  ownTextPriceSchema,
  type OwnEmbeddingPriceRow,
  type OwnTextPriceRow,
} from "./price-schema.ts";
import type { ConfigFile } from "./schema.ts";
import type {
  Catalog,
  EmbeddingModel,
  Model,
  Provider,
  TextModel,
  UnpricedModel,
} from "./types.ts";

/** Prices by model id; each has the form of an offer's price. */
export type OwnPrices = Readonly<Record<string, WireObject>>;

const familyById = new Map(mediaModelRows.map(({ id, family }) => [id, family]));

/** The schema of a model's price. A price with `output` is a text model's; one with `input` alone is an embedding model's. */
export function ownPriceSchema(id: string, price: unknown): TSchema {
  const family = familyById.get(id);
  if (family !== undefined) return mediaPrices[mediaFamilies[family].price];
  return isObject(price) && price["output"] === undefined && price["input"] !== undefined
    ? ownEmbeddingPriceSchema
    : ownTextPriceSchema;
}

/** The listed model at the operator's price; undefined if the price is for another kind of model. */
function withPrice(model: Model, price: WireObject): Model | undefined {
  if (model.kind === "text" && price["output"] !== undefined) {
    const { price_above, price_tiers, price_hours, ...rates } = price as OwnTextPriceRow;
    const own = priceOfRow({ price: rates, price_above, price_tiers, price_hours });
    return { ...model, offers: model.offers.map((offer) => ({ ...offer, price: own })) };
  }
  if (model.kind !== "embedding" || price["output"] !== undefined) return undefined;
  const { price_hours, ...rates } = price as OwnEmbeddingPriceRow;
  const own = embeddingPriceOf({ price: rates, price_hours });
  return { ...model, offers: model.offers.map((offer) => ({ ...offer, price: own })) };
}

const free = { input: "0", output: "0" };

/** A listed model without a price. */
export const unpricedListed = (row: ListedModel, vendor: VendorRow): UnpricedModel => ({
  provider: vendor.id,
  priced: (price) =>
    withPrice(listedModel({ ...row, price: free }, vendor) as TextModel | EmbeddingModel, price),
});

/** The vendor's image and video models, all without a price. */
export function unpricedMedia(vendor: VendorRow, provider: Provider): [string, UnpricedModel][] {
  return mediaModelRows.flatMap(({ id, vendor: of, model, family }): [string, UnpricedModel][] => {
    if (of !== vendor.id) return [];
    const { kind } = mediaFamilies[family];
    const priced = (price: WireObject): Model | undefined => {
      const offers = [{ provider: provider.id, upstream_model: model, price }];
      const file = { providers: [], models: [{ id, kind, family, offers }] };
      return buildCatalog(file as unknown as ConfigFile, [provider]).models.get(id);
    };
    return [[id, { provider: provider.id, priced }]];
  });
}

/** True if the list charges long calls more and the operator's price does not. */
const losesTiers = (listed: Model | undefined, own: Model): boolean =>
  listed?.kind === "text" &&
  own.kind === "text" &&
  listed.offers.some(({ price }) => price.above !== undefined) &&
  own.offers.every(({ price }) => price.above === undefined);

/** True if the list charges less for cached tokens than for input, and the operator's price or one of its tiers has no rate for them. */
const losesCacheReads = (listed: Model | undefined, own: Model): boolean =>
  listed?.kind === "text" &&
  own.kind === "text" &&
  listed.offers.some(({ price: { input, cacheRead = input } }) => cacheRead < input) &&
  own.offers.some(({ price }) =>
    [price, ...(price.hours ?? []).map((hours) => hours.price)].some((each) =>
      [each, ...(each.above ?? []).map(({ rates }) => rates)].some(
        ({ cacheRead }) => cacheRead === undefined,
      ),
    ),
  );

/** Model ids for the operator to review: prices that may be mistakes. */
export interface OwnPriceFindings {
  /** Prices that match no model of the catalogue. */
  readonly unused: readonly string[];
  /** Models whose list price has a lower rate for cached tokens, and whose own price lacks that rate. */
  readonly uncached: readonly string[];
  /** Models whose list price has tiers for long calls, and whose own price has none. */
  readonly flat: readonly string[];
}

interface OwnPriced extends OwnPriceFindings {
  readonly catalog: Catalog;
}

/** The catalogue with the operator's prices. Each replaces the whole list price, including tiers and later prices. */
export function withOwnPrices(catalog: Catalog, prices: OwnPrices): OwnPriced {
  const models = new Map(catalog.models);
  const unpriced = new Map(catalog.unpriced);
  const unused: string[] = [];
  const flat: string[] = [];
  const uncached: string[] = [];
  for (const [id, price] of Object.entries(prices)) {
    const known = models.get(id);
    const model = known ? withPrice(known, price) : unpriced.get(id)?.priced(price);
    if (model === undefined) {
      unused.push(id);
      continue;
    }
    if (losesTiers(known, model)) flat.push(id);
    if (losesCacheReads(known, model)) uncached.push(id);
    models.set(id, model);
    unpriced.delete(id);
  }
  return { catalog: { ...catalog, models, unpriced }, unused, flat, uncached };
}
