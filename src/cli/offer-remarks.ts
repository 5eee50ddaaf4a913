/** Remarks on offers of the configuration file that repeat another one of their model: by `config check` and by `doctor`. */
import type { Config } from "../catalog/index.ts";
import type { Remark } from "./price-remarks.ts";

/** Returns a remark if a model has two offers with one provider, protocol and upstream model. */
export function offerRemarksOf({ catalog }: Pick<Config, "catalog">): Remark[] {
  const models = [...catalog.models.values()]
    .filter(({ offers }) => {
      const distinct = new Set(offers.map((offer) => JSON.stringify(placeOf(offer))));
      return distinct.size < offers.length;
    })
    .map(({ id }) => id);
  const message =
    "an offer of the configuration file is listed twice, and a failed call would ask the same again; " +
    "remove one of them, or correct its provider or upstream_model";
  return models.length === 0 ? [] : [{ message, models }];
}

const placeOf = (offer: {
  readonly provider: string;
  readonly protocol?: string;
  readonly upstreamModel: string;
}) => [offer.provider, offer.protocol, offer.upstreamModel];
