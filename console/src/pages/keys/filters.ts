/** The filters of the list of keys, as they stand in the address. */
import { pick } from "../../base/search.ts";

const statuses = ["active", "disabled", "revoked"] as const;
const sorts = ["cap", "spend", "used", "name"] as const;

/** What the list is of. `new` is the dialog for a new key. */
export type Filters = {
  readonly [Name in "ws" | "owner" | "q" | "new"]?: string;
} & {
  readonly status?: (typeof statuses)[number];
  readonly sort?: (typeof sorts)[number];
};

const oneOf = <Word extends string>(words: readonly Word[], text: string | undefined) =>
  words.find((word) => word === text);

/** What stands in the address, without what is no filter. */
export function filtersOf(search: Record<string, unknown>): Filters {
  const { status, sort, q, ...others } = pick(search, ["status", "sort", "owner", "q", "new"]);
  const known = { status: oneOf(statuses, status), sort: oneOf(sorts, sort), q: q?.slice(0, 100) };
  const kept = Object.entries(known).filter(([, value]) => value !== undefined);
  return { ...others, ...(Object.fromEntries(kept) as Filters) };
}

export const statusChoices = statuses.map((value) => ({ value, label: value }));
export const sortChoices = [
  { value: "cap", label: "nearest to a cap" },
  { value: "spend", label: "most spent this month" },
  { value: "used", label: "used last" },
  { value: "name", label: "name" },
];
