/** The catalogue with the prices that hold now: prices with a start date change by themselves at their time. docs/models.md. */
import type { Clock } from "../base/clock.ts";
import type { Catalog, EmbeddingModel, Model, TextModel, TextPrice } from "./types.ts";

/** A model that is called by a text protocol, and whose price can change by its date. */
export type CallableModel = TextModel | EmbeddingModel;

export const isCallable = (model: Model): model is CallableModel =>
  model.kind === "text" || model.kind === "embedding";

/** When the next price of a catalogue begins to hold, in Unix milliseconds; Infinity where none is to come. */
function nextPriceMs({ models }: Catalog): number {
  let next = Infinity;
  for (const model of models.values()) {
    if (!isCallable(model)) continue;
    for (const { price } of model.offers) next = Math.min(next, price.later?.[0]?.fromMs ?? next);
  }
  return next;
}

/** A price without what is over: the price in force, and what follows it. */
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

/** The catalogue with each price that holds at a moment; the same object where none has changed. */
export function catalogAt(catalog: Catalog, nowMs: number): Catalog {
  if (nextPriceMs(catalog) > nowMs) return catalog;
  const models = [...catalog.models].map(
    ([id, model]) => [id, advancedModel(model, nowMs)] as const,
  );
  return { ...catalog, models: new Map(models) };
}

/**
 * A source of catalogues, with the prices in force whenever it is asked. Whoever holds what it gives for the length of a
 * call pays one price. A clock that is set back brings no earlier price back.
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
