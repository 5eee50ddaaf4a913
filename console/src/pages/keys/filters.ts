/** The filters of the list of keys, as in the URL. */
import { fit, pick } from "../../base/search.ts";

const statuses = ["active", "disabled", "revoked"] as const;
const sorts = ["cap", "spend", "used", "name"] as const;

/** The list's filters. `new` opens the dialog for a new key. */
export type Filters = {
  readonly [Name in "ws" | "owner" | "q" | "new"]?: string;
} & {
  readonly status?: (typeof statuses)[number];
  readonly sort?: (typeof sorts)[number];
};

const shapes = { status: statuses, sort: sorts, q: /^.{1,100}$/s, new: ["1"] };

/** Reads the filters from the URL; invalid ones are left out. */
export const filtersOf = (search: Record<string, unknown>): Filters =>
  fit(pick(search, ["status", "sort", "owner", "q", "new"]), shapes) as Filters;

export const statusChoices = statuses.map((value) => ({ value, label: value }));
export const sortChoices = [
  { value: "cap", label: "nearest to a cap" },
  { value: "spend", label: "most spent this month" },
  { value: "used", label: "last used" },
  { value: "name", label: "name" },
];
