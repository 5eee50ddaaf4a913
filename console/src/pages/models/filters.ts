/** The filters of the list of models, as in the URL. The browser filters the whole list. */
import type { Schemas } from "../../api/client.ts";
import { fit, pick } from "../../base/search.ts";

export type Model = Schemas["ConfiguredModels"]["data"][number];

const names = ["q", "kind", "provider", "usable-by", "ids", "catalog"] as const;
export type Filters = { readonly [Name in (typeof names)[number]]?: string };

export const kinds = ["text", "image", "video", "embedding"] as const;

export const filtersOf = (search: Record<string, unknown>): Filters =>
  fit(pick(search, names), { kind: kinds });

/** True if each word of the search is in the id, the name or an alias. */
function hasWords({ id, name = "", aliases = [] }: Model, q: string): boolean {
  const text = [id, name, ...aliases].join(" ").toLowerCase();
  return q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** True if a model matches the filters. With a key, only models that it may call match. */
export const fits =
  (filters: Filters) =>
  (model: Model): boolean =>
    (filters.kind === undefined || model.kind === filters.kind) &&
    (filters.provider === undefined ||
      model.offers.some(({ provider }) => provider === filters.provider)) &&
    (filters["usable-by"] === undefined || model.in_scope) &&
    (filters.q === undefined || hasWords(model, filters.q));

/** Ids of compared models; at most four fit side by side. */
export const comparedMax = 4;
export const idsOf = (text: string | undefined): readonly string[] =>
  text === undefined ? [] : [...new Set(text.split(",").filter((id) => id !== ""))];
