/** The filters of the log, as in the URL. */
import { gatewayMs, gatewayNow } from "../../base/clock.ts";
import { dayMs, minuteMs } from "../../base/durations.ts";
import { inOrder, isTime, momentsIn, periodWords } from "../../base/period.ts";
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

/** `sort` is the order of the list, not a filter. */
export type Filters = { readonly [Name in "ws" | "sort" | (typeof filterNames)[number]]?: string };

const ends = "succeeded|failed|client_closed|expired|canceled";

/** The API's formats of some of them; other values are ignored. */
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
  // A name and a value, such as team:search, within the callers' length limits.
  tag: /^[^:]{1,64}:.{0,512}$/su,
  user: /^.{1,256}$/su,
} as const;

/** Reads the filters of a URL, the live switch, and the call shown beside the list. */
export const filtersOf = (
  search: Record<string, unknown>,
): Filters & { readonly live?: string; readonly open?: string } =>
  inOrder(fit(pick(search, [...filterNames, "sort", "live", "open"]), shapes));

/** The list parameters on a call's page: filters and order. */
export const listOf = (search: Record<string, unknown>): Filters =>
  inOrder(fit(pick(search, [...filterNames, "sort"]), shapes));

/** The same for the router's parameters: until the router has cleaned the URL, they include unknown ones. */
export const withinOf = (search: Filters & Record<string, unknown>) => ({
  ...filtersOf(search),
  ...(search.ws !== undefined && { ws: search.ws }),
});

/** The list by cost covers at most 31 days before its end. Some minutes less, to allow for delays. */
const dearestMs = 31 * dayMs - 10 * minuteMs;

/** The start of a list: no earlier than its order allows. */
function beginOf(from: Date | undefined, to: Date, sort: string | undefined): Date | undefined {
  if (sort === undefined) return from;
  return new Date(Math.max(from?.getTime() ?? 0, to.getTime() - dearestMs));
}

/** Converts the filters' period to times; invalid times count as absent. */
export function inPeriod({ period, from, to, ...others }: Filters): Filters {
  // A rolling period begins at a full minute, so that the query stays the same for a while.
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

/** Rows per page. */
export const pageSize = 100;

/** The API parameters of the filters; undefined ones are not sent. */
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
  limit: String(pageSize),
  cursor,
});

/** The query of the CSV file: newest first, with both ends of the period. */
export function csvOf({ sort: _sort, ...filters }: Filters) {
  const { view: _view, limit: _limit, ...query } = queryOf(inPeriod(filters), undefined);
  return {
    ...query,
    from: query.from ?? "2000-01-01T00:00:00Z",
    to: query.to ?? gatewayNow().toISOString(),
  };
}
