/** Remarks on offers of the configuration file that may be mistakes: by `config check` and by `doctor`. */
import { isCallable, type Config, type HourlyPrice, type Model } from "../catalog/index.ts";
import type { Remark } from "./price-remarks.ts";

const twice =
  "an offer of the configuration file is listed twice, and a failed call would ask the same again; " +
  "remove one of them, or correct its provider or upstream_model";
const ending = (kind: string) =>
  `a later price of the configuration file has no ${kind}, and the price before it has: these end when it takes effect; ` +
  `repeat them in the entry of later_prices, unless the vendor ends them`;

const remarks: readonly (readonly [message: string, fits: (model: Model) => boolean])[] = [
  [twice, repeatsOffer],
  [ending("price_hours"), (model) => ends(model, ({ hours }) => hours !== undefined)],
  [ending("tiers"), (model) => ends(model, ({ above }) => above !== undefined)],
];

/** Returns the remarks that concern at least one model. */
export const offerRemarksOf = ({ catalog }: Pick<Config, "catalog">): Remark[] =>
  remarks.flatMap(([message, fits]) => {
    const models = [...catalog.models.values()].filter(fits).map(({ id }) => id);
    return models.length === 0 ? [] : [{ message, models }];
  });

/** True if a model has two offers with one provider, protocol and upstream model. */
function repeatsOffer({ offers }: Model): boolean {
  return new Set(offers.map((offer) => JSON.stringify(placeOf(offer)))).size < offers.length;
}

/** True if a later price of an offer lacks what the price before it has. A later price is a whole price. */
const ends = (model: Model, has: (price: HourlyPrice) => boolean): boolean =>
  isCallable(model) &&
  model.offers.some(({ price }) => {
    const prices: readonly HourlyPrice[] = [
      price,
      ...(price.later ?? []).map((dated) => dated.price),
    ];
    return prices.some((each, at) => at > 0 && !has(each) && has(prices[at - 1]!));
  });

const placeOf = (offer: {
  readonly provider: string;
  readonly protocol?: string;
  readonly upstreamModel: string;
}) => [offer.provider, offer.protocol, offer.upstreamModel];
