/** The filters of the ledger, as in the URL. */
import { periodQuery } from "../../base/period-query.ts";
import { inOrder, isTime, periodWords } from "../../base/period.ts";
import { fit, pick } from "../../base/search.ts";

const filterNames = ["kind", "key", "member", "reference", "period", "from", "to"] as const;

export type Filters = { readonly [Name in "ws" | (typeof filterNames)[number]]?: string };

export const kinds = ["credit", "charge", "void", "expire"] as const;
export type Kind = (typeof kinds)[number];

/** Invalid filters are left out. */
export const filtersOf = (search: Record<string, unknown>): Filters =>
  inOrder(
    fit(pick(search, filterNames), { kind: kinds, period: periodWords, from: isTime, to: isTime }),
  );

export const kindOf = ({ kind }: { readonly kind?: string | undefined }): Kind | undefined =>
  kinds.find((one) => one === kind);

export const isFiltered = (filters: Filters): boolean =>
  filterNames.some((name) => filters[name] !== undefined);

/** The API query; undefined values are not sent. */
export function queryOf(filters: Filters, now: number) {
  const { key, member, reference, ...period } = filters;
  return {
    kind: kindOf(filters),
    key_id: key,
    member_id: member,
    reference,
    ...periodQuery(period, now),
  };
}

/** The query of the CSV file, whose period needs both ends. */
export function csvOf(filters: Filters, now: number) {
  const query = queryOf(filters, now);
  return {
    ...query,
    from: query.from ?? "2000-01-01T00:00:00Z",
    to: query.to ?? new Date(now).toISOString(),
  };
}

/** The call of an entry, without the suffix of a late charge; undefined for credits. */
export function callOf(reference: string): string | undefined {
  const [, id] = /^((?:req|task)_\w+)(?::late)?$/.exec(reference) ?? [];
  return id;
}
