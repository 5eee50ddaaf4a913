/** What the overview asks for: sums of usage, all of one moment, so that they fit each other. */
import { useEffect, useRef, useState } from "react";
import { api, type Schemas } from "../../api/client.ts";
import { gatewayMs, gatewayNow } from "../../base/clock.ts";
import { mayAll } from "../../base/rights.ts";
import { type Shown, type Span } from "../../base/period.ts";
import { stepOf, type Step } from "../../base/steps.ts";
import { asking } from "../../ui/same-question.ts";
import { useEvents } from "../../ui/use-events.ts";
import { isNamed, tagOf, type Group, type NamedGroup } from "./search.ts";

const renewMs = 60_000;

/** Now, renewed when there are newer numbers, once a minute at most, and when asked to. */
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
  /** Whoever comes back begins the stream anew. */
  const renewSeen = () => {
    if (document.hidden) later.current = undefined;
    else renew();
  };
  useEvents({
    topics: ["usage"],
    on: ({ type }) => {
      const leftMs = renewMs - (gatewayMs() - now.getTime());
      // A stream that begins anew may have missed some: where it was broken, or nobody looked.
      const isNewer = type === "usage" || isFollowing.current;
      isFollowing.current = true;
      if (leftMs < 0) renew();
      else if (isNewer) later.current ??= setTimeout(renewSeen, leftMs);
    },
  });
  return [now, renew];
}

/** A row of a group that was asked for beside others. */
type GroupRow = NonNullable<Schemas["Usage"]["also"]>[number]["data"][number];

interface Asked {
  readonly granularity: "hour" | "day" | "month" | "total";
  readonly by?: Group;
  /** By what the same calls are grouped too. */
  readonly also?: readonly (NamedGroup | "error_code")[];
  readonly top?: number;
}

/** Whose calls count: of a workspace, with a tag, answered by a provider. */
export interface Whose {
  readonly ws?: string | undefined;
  readonly provider?: string | undefined;
  readonly tag?: string | undefined;
}

/** How finely a period is drawn: by tags there are days and no hours. */
export const stepBy = (shown: Shown, { tag }: Whose, by?: Group): Step => {
  const step = stepOf(shown);
  const isByTag = tag !== undefined || (by !== undefined && tagOf(by) !== undefined);
  return isByTag && step === "hour" ? "day" : step;
};

/** The query of `GET /usage`; what is undefined is not sent. */
export const usageQuery = ({ ws, tag, provider }: Whose, { from, to }: Span, asked: Asked) => ({
  from: from.toISOString(),
  to: to.toISOString(),
  granularity: asked.granularity,
  workspace_id: ws,
  group_by: asked.by,
  also_by: asked.also?.join(","),
  tag,
  provider,
  top: asked.top === undefined ? undefined : String(asked.top),
});

/**
 * Of a period that moves on the numbers stay until newer ones are there; those of another period or workspace never do. Who comes back
 * gets the numbers of now ({@link useNow}): those of before are not asked for again, unless their period has no other.
 */
function useUsage(query: ReturnType<typeof usageQuery>, { word, isOpen }: Shown, enabled = true) {
  const question = JSON.stringify({
    ...query,
    // What stands beside the rows leaves them as they are.
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
      ...asking(question),
    },
  );
}

/** So many rows of a table; the rest is one. */
const tableTop = 50;

/** What the period comes to, and by groups: all of one moment. */
export const useTotals = (
  whose: Whose,
  shown: Shown,
  also: readonly (NamedGroup | "error_code")[],
) => {
  const tables = also.length > 0 && { also, top: tableTop };
  return useUsage(usageQuery(whose, shown, { granularity: "total", ...tables }), shown);
};

/** Of the period before: all groups, since what grew may have been small. */
export const useTotalsBefore = (
  whose: Whose,
  { shown, also }: { shown: Shown; also: readonly NamedGroup[] },
  enabled: boolean,
) => useUsage(usageQuery(whose, shown.before, { granularity: "total", also }), shown, enabled);

export type Totals = ReturnType<typeof useTotals>;

/** The rows by a group; undefined where they are not read, or not all there. */
export function groupIn(
  usage: Totals["data"],
  by: NamedGroup | "error_code",
): readonly GroupRow[] | undefined {
  const found = usage?.also?.find(({ group_by: group }) => group === by);
  return found?.has_more === false ? found.data : undefined;
}

const chartTop = 4;

export const stepsQuery = (whose: Whose, shown: Shown, by: Group) =>
  usageQuery(whose, shown, { granularity: stepBy(shown, whose, by), by, top: chartTop });

/** By hour, day or month: all calls together, and beside them by a group. What is by a tag is of days of its own. */
export function useTimes(whose: Whose, shown: Shown, by: Group) {
  const beside = isNamed(by) && { also: [by], top: chartTop };
  return useUsage(
    usageQuery(whose, shown, { granularity: stepBy(shown, whose), ...beside }),
    shown,
  );
}

/** The rows of the chart, by step and group, and the answer that has them. */
export function useSteps(whose: Whose, shown: Shown, by: Group) {
  const times = useTimes(whose, shown, by);
  const tagged = useUsage(stepsQuery(whose, shown, by), shown, !isNamed(by));
  const { data, error, refetch } = isNamed(by) ? times : tagged;
  return { data, error, refetch, rows: isNamed(by) ? groupIn(data, by) : data?.data };
}

/** By a tag: sums of whole days, that no other group shares. */
export const useTagGroup = (whose: Whose, shown: Shown, by: Group) =>
  useUsage(usageQuery(whose, shown, { granularity: "total", by, top: tableTop }), shown);

/** The newest call there is, for an empty period. */
export const useLastCall = (ws: string | undefined, enabled: boolean) =>
  api.useQuery(
    "get",
    "/admin/v1/requests",
    { params: { query: { view: "list" as const, limit: "1", workspace_id: ws } } },
    { enabled },
  );

/** Whether calls of others are seen too. */
export function useSeesOthers(ws: string | undefined): boolean {
  const { data: me } = api.useQuery("get", "/admin/v1/me");
  return me !== undefined && mayAll(me.rights, "usage.read", ws);
}

/** Names of tags that usage is summed by. */
export function useTags(): readonly string[] {
  const { data } = api.useQuery("get", "/admin/v1/info", {}, { staleTime: Infinity });
  return data?.usage_tags ?? [];
}

/** The filter of the log for the time that an answer is of: by tags that is whole days. */
export const daysOf = ({ from, to }: { readonly from: string; readonly to: string }) => ({
  period: undefined,
  from,
  to,
});
