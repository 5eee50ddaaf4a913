/** What the overview asks for: sums of usage, all of one moment, so that they fit each other. */
import { keepPreviousData } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { api } from "../../api/client.ts";
import { mayAll } from "../../base/rights.ts";
import { stepOf, type Shown, type Span } from "../../base/period.ts";
import { useEvents } from "../../ui/use-events.ts";
import type { Group } from "./search.ts";

const renewMs = 60_000;

/** Now, renewed when there are newer numbers, once a minute at most, and when asked to. */
export function useNow(): [Date, () => void] {
  const [now, setNow] = useState(() => new Date());
  const later = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(later.current), []);
  const renew = () => {
    clearTimeout(later.current);
    later.current = undefined;
    setNow(new Date());
  };
  useEvents({
    topics: ["usage"],
    on: ({ type }) => {
      const leftMs = renewMs - (Date.now() - now.getTime());
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

/** The query of `GET /usage`; what is undefined is not sent. */
export const usageQuery = (ws: string | undefined, { from, to }: Span, asked: Asked) => ({
  from: from.toISOString(),
  to: to.toISOString(),
  granularity: asked.granularity,
  workspace_id: ws,
  group_by: asked.by,
  top: asked.top === undefined ? undefined : String(asked.top),
});

const useUsage = (query: ReturnType<typeof usageQuery>, enabled = true) =>
  api.useQuery(
    "get",
    "/admin/v1/usage",
    { params: { query } },
    { enabled, staleTime: 30_000, placeholderData: keepPreviousData },
  );

export const useTotals = (ws: string | undefined, shown: Shown) =>
  useUsage(usageQuery(ws, shown, { granularity: "total" }));

export const useTotalsBefore = (ws: string | undefined, shown: Shown, enabled: boolean) =>
  useUsage(usageQuery(ws, shown.before, { granularity: "total" }), enabled);

const chartTop = 4;

export const stepsQuery = (ws: string | undefined, shown: Shown, by: Group) =>
  usageQuery(ws, shown, { granularity: stepOf(shown), by, top: chartTop });

export const useSteps = (ws: string | undefined, shown: Shown, by: Group) =>
  useUsage(stepsQuery(ws, shown, by));

/** By hour, day or month, of all calls together. */
export const useTimes = (ws: string | undefined, shown: Shown) =>
  useUsage(usageQuery(ws, shown, { granularity: stepOf(shown) }));

/** So many rows of a table; the rest is one. */
const tableTop = 50;

export const useGroups = (ws: string | undefined, shown: Shown, by: Group) =>
  useUsage(usageQuery(ws, shown, { granularity: "total", by, top: tableTop }));

/** Of the period before: all of them, since what grew may have been small. */
export const useGroupsBefore = (
  ws: string | undefined,
  { shown, by }: { shown: Shown; by: Group },
  enabled: boolean,
) => useUsage(usageQuery(ws, shown.before, { granularity: "total", by }), enabled);

export const useErrors = (ws: string | undefined, shown: Shown) =>
  useUsage(usageQuery(ws, shown, { granularity: "total", by: "error_code", top: tableTop }));

/** The newest call there is, for an empty period. */
export const useLastCall = (ws: string | undefined, enabled: boolean) =>
  api.useQuery(
    "get",
    "/admin/v1/requests",
    { params: { query: { view: "list" as const, limit: "1", workspace_id: ws } } },
    { enabled },
  );

/** Names of workspaces, and whether there are several. */
export function useWorkspaceNames(): ReadonlyMap<string, string> {
  const { data } = api.useQuery("get", "/admin/v1/workspaces", {
    params: { query: { limit: "100" } },
  });
  return new Map((data?.data ?? []).map(({ id, name }) => [id, name]));
}

/** Whether calls of others are seen too. */
export function useSeesOthers(ws: string | undefined): boolean {
  const { data: me } = api.useQuery("get", "/admin/v1/me");
  return me !== undefined && mayAll(me.rights, "usage.read", ws);
}
