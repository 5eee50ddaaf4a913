/** Prices of a cloud's places: Bedrock and Vertex AI bill new models a tenth more in a region or geography than worldwide. docs/models.md. */
import { formatUsd, parseUsd } from "../../base/money.ts";
import type { ListedModel, ListedPrice, VendorRow } from "./types.ts";

/** The models; those of a region have the price of the same model worldwide, if it is listed, and a tenth more. */
export function withRegionalPrices(
  { regional }: VendorRow,
  models: readonly ListedModel[],
): readonly ListedModel[] {
  if (regional === undefined) return models;
  const region = new RegExp(regional);
  const byName = new Map(models.map((model) => [model.model, model]));
  return models.map((model) => {
    if (!region.test(model.model)) return model;
    const worldwide = byName.get(model.model.replace(region, "global."))?.price;
    return worldwide === undefined ? model : { ...model, price: aTenthMore(worldwide) };
  });
}

/** Matches addresses of Vertex AI in a region or a group of regions. */
const place = /\/locations\/(?!global\/*$)[a-z0-9-]+\/*$/;

/** A model of a list for calls to this address: there it may cost a tenth more. */
export function pricedAt({ placed }: VendorRow, model: ListedModel, baseUrl: string): ListedModel {
  const { price } = model;
  if (placed === undefined || price === undefined || !place.test(baseUrl)) return model;
  return new RegExp(placed).test(model.model) ? { ...model, price: aTenthMore(price) } : model;
}

const more = (usd: string): string => formatUsd((parseUsd(usd) * 11n + 9n) / 10n);

/** Numbers of the price are sizes of tiers. */
function aTenthMore({ above, ...rates }: ListedPrice): ListedPrice {
  const raised = <Rates extends object>(of: Rates): Rates =>
    Object.fromEntries(
      Object.entries(of).map(([name, rate]) => [
        name,
        typeof rate === "string" ? more(rate) : (rate as number),
      ]),
    ) as Rates;
  return { ...raised(rates), ...(above && { above: above.map(raised) }) };
}
