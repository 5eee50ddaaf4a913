/** Queries of the overview: usage sums, all as of one moment, so that they are consistent. */
import { useEffect, useRef, useState } from "react";
import { api, type Schemas } from "../../api/client.ts";
import { gatewayMs, gatewayNow } from "../../base/clock.ts";
import { mayAll } from "../../base/rights.ts";
import { type ShownSpan, type Span } from "../../base/period.ts";
import { stepOf, type Step } from "../../base/steps.ts";
import { keepPreviousFor } from "../../ui/keep-previous.ts";
import { useEvents } from "../../ui/use-events.ts";
import { isNamed, tagOf, type Group, type NamedGroup } from "./search.ts";

const renewMs = 60_000;

/** The current time, updated when newer numbers exist, at most once a minute, and on request. */
export function useNow(): [Date, () => void] {
  const [now, setNow] = useState(gatewayNow);
  const later = useRef<ReturnType<typeof setTimeout>>(undefined);
  const isFollowing = useRef(false);
  useEffect(() => () => clearTimeout(later.current), []);
  const renew = () => {
    clearTimeout(later.current);
    later.current = undefined;
    setNow(gatewayNow());
  };
  /** A return to the page restarts the stream. */
  const renewSeen = () => {
    if (document.hidden) later.current = undefined;
    else renew();
  };
  useEvents({
    topics: ["usage"],
    on: ({ type }) => {
      const leftMs = renewMs - (gatewayMs() - now.getTime());
      // A restarted stream may have missed events, while it was broken or the page was hidden.
      const isNewer = type === "usage" || isFollowing.current;
      isFollowing.current = true;
      if (leftMs < 0) renew();
      else if (isNewer) later.current ??= setTimeout(renewSeen, leftMs);
    },
  });
  return [now, renew];
}

/** A row of an additional group. */
type GroupRow = NonNullable<Schemas["Usage"]["also"]>[number]["data"][number];

interface UsageOptions {
  readonly granularity: "hour" | "day" | "month" | "total";
  readonly by?: Group;
  /** Additional groups of the same calls. */
  readonly also?: readonly (NamedGroup | "error_code")[];
  readonly top?: number;
}

/** Restricts the calls: to a workspace, a tag, or a provider that answered. */
export interface Scope {
  readonly ws?: string | undefined;
  readonly provider?: string | undefined;
  readonly tag?: string | undefined;
}

/** The resolution of a period's chart: tags have days, but no hours. */
export const chartStepOf = (shown: ShownSpan, { tag }: Scope, by?: Group): Step => {
  const step = stepOf(shown);
  const isByTag = tag !== undefined || (by !== undefined && tagOf(by) !== undefined);
  return isByTag && step === "hour" ? "day" : step;
};

/** The query of `GET /usage`; undefined values are not sent. */
export const usageQuery = (
  { ws, tag, provider }: Scope,
  { from, to }: Span,
  options: UsageOptions,
) => ({
  from: from.toISOString(),
  to: to.toISOString(),
  granularity: options.granularity,
  workspace_id: ws,
  group_by: options.by,
  also_by: options.also?.join(","),
  tag,
  provider,
  top: options.top === undefined ? undefined : String(options.top),
});

/**
 * Reads usage. An open-ended period keeps its numbers until newer ones arrive; those of another period or workspace are never kept. On
 * return, {@link useNow} asks for current numbers, so this does not refetch, unless the period has ended or its read failed.
 */
function useUsage(
  query: ReturnType<typeof usageQuery>,
  { word, isOpen }: ShownSpan,
  enabled = true,
) {
  const question = JSON.stringify({
    ...query,
    // Additional groups do not change the rows.
    also_by: undefined,
    top: query.group_by && query.top,
    ...(word !== undefined && { from: word, to: word }),
  });
  return api.useQuery(
    "get",
    "/admin/v1/usage",
    { params: { query } },
    {
      enabled,
      staleTime: 30_000,
      refetchOnWindowFocus: ({ state }) => !isOpen || state.status === "error",
      ...keepPreviousFor(question),
    },
  );
}

/** Rows of a table; one row sums the rest. */
const tableTop = 50;

/** The period's totals, and by group: all as of one moment. */
export const useTotals = (
  scope: Scope,
  shown: ShownSpan,
  also: readonly (NamedGroup | "error_code")[],
) => {
  const tables = also.length > 0 && { also, top: tableTop };
  return useUsage(usageQuery(scope, shown, { granularity: "total", ...tables }), shown);
};

/** The comparison period: all groups, since a group that grew may have been small. */
export const useTotalsBefore = (
  scope: Scope,
  { shown, also }: { shown: ShownSpan; also: readonly NamedGroup[] },
  enabled: boolean,
) => useUsage(usageQuery(scope, shown.before, { granularity: "total", also }), shown, enabled);

export type Totals = ReturnType<typeof useTotals>;

/** The rows of a group; undefined if they are not loaded or incomplete. */
export function groupIn(
  usage: Totals["data"],
  by: NamedGroup | "error_code",
): readonly GroupRow[] | undefined {
  const found = usage?.also?.find(({ group_by: group }) => group === by);
  return found?.has_more === false ? found.data : undefined;
}

const chartTop = 4;

export const stepsQuery = (scope: Scope, shown: ShownSpan, by: Group) =>
  usageQuery(scope, shown, { granularity: chartStepOf(shown, scope, by), by, top: chartTop });

/** All calls by hour, day or month, and additionally by a group. Sums by tag need a query of their own. */
export function useUsageOverTime(scope: Scope, shown: ShownSpan, by: Group) {
  const beside = isNamed(by) && { also: [by], top: chartTop };
  return useUsage(
    usageQuery(scope, shown, { granularity: chartStepOf(shown, scope), ...beside }),
    shown,
  );
}

/** The chart's rows by step and group, and the response that has them. */
export function useSteps(scope: Scope, shown: ShownSpan, by: Group) {
  const times = useUsageOverTime(scope, shown, by);
  const tagged = useUsage(stepsQuery(scope, shown, by), shown, !isNamed(by));
  const { data, error, refetch } = isNamed(by) ? times : tagged;
  return { data, error, refetch, rows: isNamed(by) ? groupIn(data, by) : data?.data };
}

/** Sums by tag: of whole days, in a query of their own. */
export const useTagGroup = (scope: Scope, shown: ShownSpan, by: Group) =>
  useUsage(usageQuery(scope, shown, { granularity: "total", by, top: tableTop }), shown);

/** The newest call, for an empty period. */
export const useLastCall = (ws: string | undefined, enabled: boolean) =>
  api.useQuery(
    "get",
    "/admin/v1/requests",
    { params: { query: { view: "list" as const, limit: "1", workspace_id: ws } } },
    { enabled },
  );

/** True if the reader sees calls of other users. */
export function useSeesOthers(ws: string | undefined): boolean {
  const { data: me } = api.useQuery("get", "/admin/v1/me");
  return me !== undefined && mayAll(me.rights, "usage.read", ws);
}

/** Names of the tags with usage sums. */
export function useTags(): readonly string[] {
  const { data } = api.useQuery("get", "/admin/v1/info", {}, { staleTime: Infinity });
  return data?.usage_tags ?? [];
}

/** The log filter for the time of a response: whole days, if by tag. */
export const daysOf = ({ from, to }: { readonly from: string; readonly to: string }) => ({
  period: undefined,
  from,
  to,
});
