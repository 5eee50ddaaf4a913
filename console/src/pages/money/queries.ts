/** What the page of money asks for. */
import { useState } from "react";
import { api, client } from "../../api/client.ts";
import { gatewayMs } from "../../base/clock.ts";
import { dayMs, minuteMs } from "../../base/durations.ts";
import { parseUsd } from "../../base/money.ts";
import { pageSize, useAllPages } from "../../ui/all-pages.ts";
import { usePages } from "../../ui/pages.ts";
import { useRenewal } from "../../ui/use-renewal.ts";

/** The balance, read again as calls are charged. */
export function useBalance(id: string) {
  const path = "/admin/v1/workspaces/{id}/balance";
  const init = { params: { path: { id } } };
  useRenewal({ topics: ["usage"], reads: [api.queryOptions("get", path, init).queryKey] });
  return api.useQuery("get", path, init);
}

/** Lines of the list of balances that are read at once. */
const balancesLimit = "25";

/** The balances of all workspaces, page by page; those that are shown are read again as calls are charged. */
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

/** What the workspace spent in the seven days up to the end of this minute; undefined while it is on its way. */
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

export const useWorkspace = (id: string) =>
  api.useQuery("get", "/admin/v1/workspaces/{id}", { params: { path: { id } } });

/** More members or keys are not drawn; the nearest keys come first. */
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

/** The last check of the ledger, whoever asked for it. */
export function useVerification() {
  const { queryKey } = api.queryOptions("get", "/admin/v1/verify", {});
  useRenewal({ topics: ["verification"], reads: [queryKey] });
  return api.useQuery("get", "/admin/v1/verify", {});
}
