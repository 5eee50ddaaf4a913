/** The filters of the log, as they stand in the address. */
import { gatewayMs, gatewayNow } from "../../base/clock.ts";
import { dayMs, minuteMs } from "../../base/durations.ts";
import { isTime, momentsIn, periodWords } from "../../base/period.ts";
import { fit, pick } from "../../base/search.ts";

export const filterNames = [
  "key",
  "member",
  "model",
  "provider",
  "asked",
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

/** `sort` is the order of the list and no filter. */
export type Filters = { readonly [Name in "ws" | "sort" | (typeof filterNames)[number]]?: string };

const ends = "succeeded|failed|client_closed|expired|canceled";

/** What the API takes for some of them; others are as if they were not there. */
const shapes = {
  status: new RegExp(`^(?:${ends})(?:,(?:${ends}))*$`),
  period: periodWords,
  from: isTime,
  to: isTime,
  sort: ["cost"],
  live: ["1"],
  open: /^(?:req|task)_[0-9a-z]{26}$/,
  http: /^[1-5]\d\d$/,
  cost: /^\d{1,9}(\.\d{1,9})?$/,
  code: /^.{1,100}$/,
  asked: /^.{1,100}$/,
  protocol: /^.{1,100}$/,
  // Milliseconds.
  slower: /^\d{1,9}$/,
  q: /^.{1,100}$/,
  changed: /^1$/,
  // A name and its value, such as team:search, as long as callers may say them.
  tag: /^[^:]{1,64}:.{0,512}$/su,
  user: /^.{1,256}$/su,
} as const;

/** The filters of an address, whether the list grows by itself, and the call that is shown beside it. */
export const filtersOf = (
  search: Record<string, unknown>,
): Filters & { readonly live?: string; readonly open?: string } =>
  fit(pick(search, [...filterNames, "sort", "live", "open"]), shapes);

/** What the page of a call keeps of its list: the filters and the order. */
export const listOf = (search: Record<string, unknown>): Filters =>
  fit(pick(search, [...filterNames, "sort"]), shapes);

/** The same of what the router hands out: until it has put the address right, that has what no page reads. */
export const withinOf = (search: Filters & Record<string, unknown>) => ({
  ...filtersOf(search),
  ...(search.ws !== undefined && { ws: search.ws }),
});

/** The list by cost is of so many days at most: those before its end. Some minutes less, for what passes on the way. */
const dearestMs = 31 * dayMs - 10 * minuteMs;

/** Where a list begins: no earlier than its order allows. */
function beginOf(from: Date | undefined, to: Date, sort: string | undefined): Date | undefined {
  if (sort === undefined) return from;
  return new Date(Math.max(from?.getTime() ?? 0, to.getTime() - dearestMs));
}

/** The filters with their period as times: what is no time counts as absent. */
export function inPeriod({ period, from, to, ...others }: Filters): Filters {
  // A period that ends now begins at the full minute, so that what is asked for stays the same for a while.
  const minute = new Date(Math.floor(gatewayMs() / minuteMs) * minuteMs);
  const moments = momentsIn(
    { ...(period && { period }), ...(from && { from }), ...(to && { to }) },
    minute,
  );
  const begin = beginOf(moments.from, moments.to ?? minute, others.sort);
  return {
    ...others,
    ...(begin && { from: begin.toISOString() }),
    ...(moments.to && { to: moments.to.toISOString() }),
  };
}

const pageSize = "100";

/** What the API is asked for by them; what is undefined is not sent. */
export const conditionsOf = ({
  ws,
  key,
  member,
  asked,
  code,
  http,
  cost,
  slower,
  changed,
  user,
  sort,
  period: _word,
  ...same
}: Filters) => ({
  ...same,
  workspace_id: ws,
  key_id: key,
  member_id: member,
  attempted_provider: asked,
  error_code: code,
  http_status: http,
  min_cost: cost,
  min_duration_ms: slower,
  end_user: user,
  changed: changed === undefined ? undefined : ("true" as const),
  sort: sort === undefined ? undefined : ("cost" as const),
});

/** The query of a page. */
export const queryOf = (filters: Filters, cursor: string | undefined) => ({
  ...conditionsOf(filters),
  view: "list" as const,
  limit: pageSize,
  cursor,
});

/** The same as a file, newest first, whose period must have both its ends. */
export function csvOf({ sort: _sort, ...filters }: Filters) {
  const { view: _view, limit: _limit, ...query } = queryOf(inPeriod(filters), undefined);
  return {
    ...query,
    from: query.from ?? "2000-01-01T00:00:00Z",
    to: query.to ?? gatewayNow().toISOString(),
  };
}
