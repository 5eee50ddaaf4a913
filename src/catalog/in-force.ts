/** The catalogue with current prices: prices with a start date or hours take effect at their time. docs/models.md. */
import type { Clock } from "../base/clock.ts";
import { hoursAt, nextHoursMs } from "./price-hours.ts";
import type { TextPrice } from "./price-types.ts";
import type { Catalog, EmbeddingModel, Model, TextModel } from "./types.ts";

/** A model that is called by a text protocol or embeddings; its price can change by date. */
export type CallableModel = TextModel | EmbeddingModel;

export const isCallable = (model: Model): model is CallableModel =>
  model.kind === "text" || model.kind === "embedding";

/** The next moment at which a price of the catalogue changes, in Unix milliseconds; Infinity if there is none. */
function nextPriceMs({ models }: Catalog, nowMs: number): number {
  let next = Infinity;
  for (const model of models.values()) {
    if (!isCallable(model)) continue;
    for (const { price } of model.offers)
      next = Math.min(next, price.later?.[0]?.fromMs ?? Infinity, nextHoursMs(price, nowMs));
  }
  return next;
}

/** Drops past prices: returns the current price and the ones after it. */
function advanced(price: TextPrice, nowMs: number): TextPrice {
  const { later = [] } = price;
  const at = later.findLastIndex(({ fromMs }) => fromMs <= nowMs);
  if (at === -1) return price;
  const rest = later.slice(at + 1);
  return { ...later[at]!.price, ...(rest.length > 0 && { later: rest }) };
}

/** The price of a moment: by its date, then by its hour. The same object if nothing changes. */
function priceAt(price: TextPrice, nowMs: number): TextPrice {
  const dated = advanced(price, nowMs);
  const { hours, later, otherHours, ...rates } = dated;
  const now = hoursAt(dated, nowMs);
  if (now === undefined && otherHours === undefined) return dated;
  const usual = otherHours ?? rates;
  const kept = { hours, ...(later && { later }) };
  return now === undefined ? { ...usual, ...kept } : { ...now.price, ...kept, otherHours: usual };
}

function modelAt(model: Model, nowMs: number): Model {
  if (!isCallable(model)) return model;
  const prices = model.offers.map(({ price }) => priceAt(price, nowMs));
  if (model.offers.every(({ price }, index) => price === prices[index])) return model;
  const offers = model.offers.map((offer, index) => ({ ...offer, price: prices[index]! }));
  return { ...model, offers } as CallableModel;
}

/** The catalogue with the prices of a moment; the same object if no price has changed. */
export function catalogAt(catalog: Catalog, nowMs: number): Catalog {
  const models = [...catalog.models].map(([id, model]) => [id, modelAt(model, nowMs)] as const);
  if (models.every(([id, model]) => catalog.models.get(id) === model)) return catalog;
  return { ...catalog, models: new Map(models) };
}

/**
 * Returns a source of catalogues with current prices. A call that keeps the catalogue it got pays one price throughout.
 * If the clock is set back, so are the prices; otherwise a clock a day ahead would keep the price of some hours for a day.
 */
export function pricesInForce(source: () => Catalog, clock: Clock): () => Catalog {
  let from: Catalog | undefined;
  let current: Catalog | undefined;
  let sinceMs = Infinity;
  let nextMs = -Infinity;
  return () => {
    const latest = source();
    const nowMs = clock.now();
    if (latest === from && nowMs >= sinceMs && nowMs < nextMs) return current!;
    from = latest;
    sinceMs = nowMs;
    current = catalogAt(latest, nowMs);
    nextMs = nextPriceMs(current, nowMs);
    return current;
  };
}
