/** The filters of the list of models, as they stand in the address. The list comes whole, and is filtered here. */
import type { Schemas } from "../../api/client.ts";
import { fit, pick } from "../../base/search.ts";

export type Model = Schemas["ConfiguredModels"]["data"][number];

const names = ["q", "kind", "provider", "usable-by", "ids", "catalog"] as const;
export type Filters = { readonly [Name in (typeof names)[number]]?: string };

export const kinds = ["text", "image", "video", "embedding"] as const;

export const filtersOf = (search: Record<string, unknown>): Filters =>
  fit(pick(search, names), { kind: kinds });

/** Every word of the search is in the id, the name or an alias. */
function hasWords({ id, name = "", aliases = [] }: Model, q: string): boolean {
  const text = [id, name, ...aliases].join(" ").toLowerCase();
  return q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** Whether a model is shown. With a key only what that may call is. */
export const fits =
  (filters: Filters) =>
  (model: Model): boolean =>
    (filters.kind === undefined || model.kind === filters.kind) &&
    (filters.provider === undefined ||
      model.offers.some(({ provider }) => provider === filters.provider)) &&
    (filters["usable-by"] === undefined || model.in_scope) &&
    (filters.q === undefined || hasWords(model, filters.q));

/** Ids that are to be compared; at most four fit side by side. */
export const comparedMax = 4;
export const idsOf = (text: string | undefined): readonly string[] =>
  text === undefined ? [] : [...new Set(text.split(",").filter((id) => id !== ""))];
