/** The catalogue with current prices: prices with a start date take effect at that time. docs/models.md. */
import type { Clock } from "../base/clock.ts";
import type { Catalog, EmbeddingModel, Model, TextModel, TextPrice } from "./types.ts";

/** A model that is called by a text protocol or embeddings; its price can change by date. */
export type CallableModel = TextModel | EmbeddingModel;

export const isCallable = (model: Model): model is CallableModel =>
  model.kind === "text" || model.kind === "embedding";

/** The start of the catalogue's next price, in Unix milliseconds; Infinity if there is none. */
function nextPriceMs({ models }: Catalog): number {
  let next = Infinity;
  for (const model of models.values()) {
    if (!isCallable(model)) continue;
    for (const { price } of model.offers) next = Math.min(next, price.later?.[0]?.fromMs ?? next);
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

function advancedModel(model: Model, nowMs: number): Model {
  if (!isCallable(model)) return model;
  const isOver = model.offers.some(({ price }) => (price.later?.[0]?.fromMs ?? Infinity) <= nowMs);
  if (!isOver) return model;
  const offers = model.offers.map((offer) => ({ ...offer, price: advanced(offer.price, nowMs) }));
  return { ...model, offers } as CallableModel;
}

/** The catalogue with the prices of a moment; the same object if no price has changed. */
export function catalogAt(catalog: Catalog, nowMs: number): Catalog {
  if (nextPriceMs(catalog) > nowMs) return catalog;
  const models = [...catalog.models].map(
    ([id, model]) => [id, advancedModel(model, nowMs)] as const,
  );
  return { ...catalog, models: new Map(models) };
}

/**
 * Returns a source of catalogues with current prices. A call that keeps the catalogue it got pays one price throughout.
 * If the clock is set back, earlier prices do not return.
 */
export function pricesInForce(source: () => Catalog, clock: Clock): () => Catalog {
  let from: Catalog | undefined;
  let current: Catalog | undefined;
  let nextMs = -Infinity;
  return () => {
    const latest = source();
    if (latest === from && clock.now() < nextMs) return current!;
    from = latest;
    current = catalogAt(latest, clock.now());
    nextMs = nextPriceMs(current);
    return current;
  };
}
