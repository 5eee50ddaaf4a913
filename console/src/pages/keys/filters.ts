/** The filters of the list of keys, as they stand in the address. */
import { pick } from "../../base/search.ts";

export const filterNames = ["status", "owner", "q", "sort"] as const;

export type Filters = { readonly [Name in "ws" | (typeof filterNames)[number]]?: string };

const statuses = ["active", "disabled", "revoked"] as const;
type Status = (typeof statuses)[number];

const isStatus = (text: string | undefined): text is Status =>
  (statuses as readonly (string | undefined)[]).includes(text);

/** What stands in the address, without what is no filter. */
export function filtersOf(search: Record<string, unknown>): Filters {
  const { status, ...others } = pick(search, filterNames);
  return { ...others, ...(isStatus(status) && { status }) };
}

/** The status of the address, as the API takes it. */
export const statusOf = ({ status }: Filters): Status | undefined =>
  isStatus(status) ? status : undefined;
