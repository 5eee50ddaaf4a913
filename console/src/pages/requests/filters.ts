/** The filters of the log, as they stand in the address. */
import { momentsIn } from "../../base/period.ts";
import { pick } from "../../base/search.ts";

const minuteMs = 60_000;

export const filterNames = [
  "key",
  "member",
  "model",
  "provider",
  "protocol",
  "status",
  "code",
  "period",
  "from",
  "to",
  "http",
  "cost",
  "slower",
  "q",
  "changed",
  "tag",
  "user",
] as const;

export type Filters = { readonly [Name in "ws" | (typeof filterNames)[number]]?: string };

/** What the API takes for some of them; others are as if they were not there. */
const shapes: Partial<Record<(typeof filterNames)[number], RegExp>> = {
  http: /^[1-5]\d\d$/,
  cost: /^\d{1,9}(\.\d{1,9})?$/,
  code: /^.{1,100}$/,
  protocol: /^.{1,100}$/,
  // Milliseconds.
  slower: /^\d{1,9}$/,
  q: /^.{1,100}$/,
  changed: /^1$/,
  // A name and its value, such as team:search.
  tag: /^[^:]{1,100}:.{0,500}$/,
  user: /^.{1,256}$/,
};

/** The filters of an address, and whether the list grows by itself. */
export function filtersOf(search: Record<string, unknown>): Filters & { readonly live?: string } {
  const fields = pick(search, [...filterNames, "live"]);
  const kept = Object.entries(fields).filter(
    ([name, value]) => shapes[name as keyof typeof shapes]?.test(value) !== false,
  );
  return Object.fromEntries(kept);
}

/** The filters with their period as times: what is no time counts as absent. */
export function inPeriod({ period, from, to, ...others }: Filters): Filters {
  // A period that ends now begins at the full minute, so that what is asked for stays the same for a while.
  const minute = new Date(Math.floor(Date.now() / minuteMs) * minuteMs);
  const moments = momentsIn(
    { ...(period && { period }), ...(from && { from }), ...(to && { to }) },
    minute,
  );
  return {
    ...others,
    ...(moments.from && { from: moments.from.toISOString() }),
    ...(moments.to && { to: moments.to.toISOString() }),
  };
}

const pageSize = "100";

/** The query of a page; what is undefined is not sent. */
export const queryOf = (
  { ws, key, member, code, http, cost, slower, changed, user, period: _word, ...same }: Filters,
  cursor: string | undefined,
) => ({
  ...same,
  view: "list" as const,
  limit: pageSize,
  workspace_id: ws,
  key_id: key,
  member_id: member,
  error_code: code,
  http_status: http,
  min_cost: cost,
  min_duration_ms: slower,
  end_user: user,
  changed: changed === undefined ? undefined : ("true" as const),
  cursor,
});

/** The same as a file, whose period must have both its ends. */
export function csvOf(filters: Filters) {
  const { view: _view, limit: _limit, ...query } = queryOf(inPeriod(filters), undefined);
  return {
    ...query,
    from: query.from ?? "2000-01-01T00:00:00Z",
    to: query.to ?? new Date().toISOString(),
  };
}
