/** The filters of the log, as they stand in the address. */
import { pick } from "../../base/search.ts";

export const filterNames = ["key", "model", "provider", "status"] as const;

export type Filters = { readonly [Name in "ws" | (typeof filterNames)[number]]?: string };

export const filtersOf = (search: Record<string, unknown>): Filters => pick(search, filterNames);
