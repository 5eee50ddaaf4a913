/** The filters of the list of keys, as they stand in the address. */
import { fit, pick } from "../../base/search.ts";

const statuses = ["active", "disabled", "revoked"] as const;
const sorts = ["cap", "spend", "used", "name"] as const;

/** What the list is of. `new` is the dialog for a new key. */
export type Filters = {
  readonly [Name in "ws" | "owner" | "q" | "new"]?: string;
} & {
  readonly status?: (typeof statuses)[number];
  readonly sort?: (typeof sorts)[number];
};

const shapes = { status: statuses, sort: sorts, q: /^.{1,100}$/s, new: ["1"] };

/** What stands in the address, without what is no filter. */
export const filtersOf = (search: Record<string, unknown>): Filters =>
  fit(pick(search, ["status", "sort", "owner", "q", "new"]), shapes) as Filters;

export const statusChoices = statuses.map((value) => ({ value, label: value }));
export const sortChoices = [
  { value: "cap", label: "nearest to a cap" },
  { value: "spend", label: "most spent this month" },
  { value: "used", label: "used last" },
  { value: "name", label: "name" },
];
