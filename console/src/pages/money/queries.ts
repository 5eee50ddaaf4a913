/** Queries of the money page. */
import { useState } from "react";
import { api, client } from "../../api/client.ts";
import { gatewayMs } from "../../base/clock.ts";
import { dayMs, minuteMs } from "../../base/durations.ts";
import { parseUsd } from "../../base/money.ts";
import { pageSize, useAllPages } from "../../ui/all-pages.ts";
import { usePages } from "../../ui/pages.ts";
import { useRenewal } from "../../ui/use-renewal.ts";

/** The balance, read again after new charges. */
export function useBalance(id: string) {
  const path = "/admin/v1/workspaces/{id}/balance";
  const init = { params: { path: { id } } };
  useRenewal({ topics: ["usage"], reads: [api.queryOptions("get", path, init).queryKey] });
  return api.useQuery("get", path, init);
}

/** Balances per page. */
const balancesLimit = "25";

/** The balances of all workspaces, page by page; shown pages are read again after new charges. */
export function useBalances() {
  const key = ["get", "/admin/v1/balances"];
  useRenewal({ topics: ["usage"], reads: [key] });
  return usePages({
    key,
    async read(cursor, signal) {
      const params = { query: { limit: balancesLimit, cursor } };
      return (await client.GET("/admin/v1/balances", { params, signal })).data!;
    },
  });
}

const weekMs = 7 * dayMs;

/** The workspace's spend in the seven days up to the end of this minute; undefined while loading. */
export function useWeek(id: string, enabled: boolean) {
  const [now] = useState(() => new Date(Math.ceil(gatewayMs() / minuteMs) * minuteMs));
  const from = new Date(now.getTime() - weekMs);
  const query = {
    workspace_id: id,
    from: from.toISOString(),
    to: now.toISOString(),
    granularity: "total" as const,
  };
  const { data } = api.useQuery("get", "/admin/v1/usage", { params: { query } }, { enabled });
  const spent = data && parseUsd(data.data[0]?.cost ?? "0");
  return { spent, begin: from, now };
}

export const useWorkspace = (id: string | undefined) =>
  api.useQuery(
    "get",
    "/admin/v1/workspaces/{id}",
    { params: { path: { id: id ?? "" } } },
    { enabled: id !== undefined },
  );

/** Further members or keys are not shown; the keys nearest to a cap come first. */
const pagesMax = 5;

export const useMembers = (id: string) =>
  useAllPages({
    key: ["get", "/admin/v1/workspaces/{id}/members", id, "all"],
    pagesMax,
    async read(cursor, signal) {
      const params = { path: { id }, query: { limit: pageSize, cursor } };
      return (await client.GET("/admin/v1/workspaces/{id}/members", { params, signal })).data!;
    },
  });

export const useKeysByCap = (id: string) =>
  useAllPages({
    key: ["get", "/admin/v1/keys", id, "by cap"],
    pagesMax,
    async read(cursor, signal) {
      const query = { limit: pageSize, workspace_id: id, sort: "cap" as const, cursor };
      return (await client.GET("/admin/v1/keys", { params: { query }, signal })).data!;
    },
  });

/** The last check of the ledger, whichever user started it. */
export function useVerification() {
  const { queryKey } = api.queryOptions("get", "/admin/v1/verify", {});
  useRenewal({ topics: ["verification"], reads: [queryKey] });
  return api.useQuery("get", "/admin/v1/verify", {});
}
