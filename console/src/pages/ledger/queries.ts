/** Queries of the ledger page. */
import { api, client, type Schemas } from "../../api/client.ts";
import { gatewayMs } from "../../base/clock.ts";
import { usePages } from "../../ui/pages.ts";
import { queryOf, type Filters } from "./filters.ts";

export type Entry = Schemas["LedgerEntries"]["data"][number];

const pageSize = "100";

/** The entries that match the filters, page by page. */
export const useEntries = (id: string | undefined, filters: Filters) =>
  usePages({
    key: ["get", "/admin/v1/workspaces/{id}/ledger", id, filters],
    async read(cursor, signal) {
      const query = { ...queryOf(filters, gatewayMs()), limit: pageSize, cursor };
      const params = { path: { id: id! }, query };
      return (await client.GET("/admin/v1/workspaces/{id}/ledger", { params, signal })).data!;
    },
    enabled: id !== undefined,
  });

/** Key names by id; beyond the first hundred, the page shows ids. */
export function useKeyNames(id: string | undefined): ReadonlyMap<string, string> {
  const query = { limit: "100", sort: "used" as const, workspace_id: id };
  const { data } = api.useQuery(
    "get",
    "/admin/v1/keys",
    { params: { query } },
    { enabled: id !== undefined },
  );
  return new Map((data?.data ?? []).map(({ id: key, name }) => [key, name]));
}
