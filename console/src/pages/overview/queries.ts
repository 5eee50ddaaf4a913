/** What the overview asks for: sums of usage, all of one moment, so that they fit each other. */
import { useEffect, useRef, useState } from "react";
import { api } from "../../api/client.ts";
import { gatewayMs, gatewayNow } from "../../base/clock.ts";
import { mayAll } from "../../base/rights.ts";
import { type Shown, type Span } from "../../base/period.ts";
import { stepOf, type Step } from "../../base/steps.ts";
import { asking } from "../../ui/same-question.ts";
import { useEvents } from "../../ui/use-events.ts";
import { tagOf, type Group } from "./search.ts";

const renewMs = 60_000;

/** Now, renewed when there are newer numbers, once a minute at most, and when asked to. */
export function useNow(): [Date, () => void] {
  const [now, setNow] = useState(gatewayNow);
  const later = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(later.current), []);
  const renew = () => {
    clearTimeout(later.current);
    later.current = undefined;
    setNow(gatewayNow());
  };
  useEvents({
    topics: ["usage"],
    on: ({ type }) => {
      const leftMs = renewMs - (gatewayMs() - now.getTime());
      if (type === "usage") later.current ??= setTimeout(renew, leftMs);
      // Back after a while in which nobody looked.
      else if (leftMs < 0) renew();
    },
  });
  return [now, renew];
}

interface Asked {
  readonly granularity: "hour" | "day" | "month" | "total";
  readonly by?: Group | "error_code";
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
  tag,
  provider,
  top: asked.top === undefined ? undefined : String(asked.top),
});

/** Of a period that moves on the numbers stay until newer ones are there; those of another period or workspace never do. */
function useUsage(query: ReturnType<typeof usageQuery>, { word }: Shown, enabled = true) {
  const question = JSON.stringify({
    ...query,
    ...(word !== undefined && { from: word, to: word }),
  });
  return api.useQuery(
    "get",
    "/admin/v1/usage",
    { params: { query } },
    { enabled, staleTime: 30_000, ...asking(question) },
  );
}

export const useTotals = (whose: Whose, shown: Shown) =>
  useUsage(usageQuery(whose, shown, { granularity: "total" }), shown);

export const useTotalsBefore = (whose: Whose, shown: Shown, enabled: boolean) =>
  useUsage(usageQuery(whose, shown.before, { granularity: "total" }), shown, enabled);

const chartTop = 4;

export const stepsQuery = (whose: Whose, shown: Shown, by: Group) =>
  usageQuery(whose, shown, { granularity: stepBy(shown, whose, by), by, top: chartTop });

export const useSteps = (whose: Whose, shown: Shown, by: Group) =>
  useUsage(stepsQuery(whose, shown, by), shown);

/** By hour, day or month, of all calls together. */
export const useTimes = (whose: Whose, shown: Shown) =>
  useUsage(usageQuery(whose, shown, { granularity: stepBy(shown, whose) }), shown);

/** So many rows of a table; the rest is one. */
const tableTop = 50;

export const useGroups = (whose: Whose, shown: Shown, by: Group) =>
  useUsage(usageQuery(whose, shown, { granularity: "total", by, top: tableTop }), shown);

/** Of the period before: all of them, since what grew may have been small. */
export const useGroupsBefore = (
  whose: Whose,
  { shown, by }: { shown: Shown; by: Group },
  enabled: boolean,
) => useUsage(usageQuery(whose, shown.before, { granularity: "total", by }), shown, enabled);

export const useErrors = (whose: Whose, shown: Shown) =>
  useUsage(
    usageQuery(whose, shown, { granularity: "total", by: "error_code", top: tableTop }),
    shown,
  );

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
