/** Queries of the list of keys. */
import { api, client, type Schemas } from "../../api/client.ts";
import { mayAll } from "../../base/rights.ts";
import { usePages } from "../../ui/pages.ts";
import { useWorkspaces } from "../../ui/workspaces.ts";
import type { Filters } from "./filters.ts";

export type Key = Schemas["KeyRecords"]["data"][number];

const pageSize = "100";

/** The keys that match the filters, page by page. */
export const useKeys = ({ ws, owner, status, q, sort }: Filters) =>
  usePages({
    key: ["get", "/admin/v1/keys", { ws, owner, status, q, sort }, "pages"],
    async read(cursor, signal) {
      const query = {
        limit: pageSize,
        workspace_id: ws,
        created_by: owner,
        status,
        q,
        sort,
        cursor,
      };
      return (await client.GET("/admin/v1/keys", { params: { query }, signal })).data!;
    },
  });

/** The workspaces in which the reader may create keys. */
export function useOpenWorkspaces() {
  const { data: me } = api.useQuery("get", "/admin/v1/me");
  const workspaces = (useWorkspaces().rows ?? []).filter(
    ({ id }) => me !== undefined && mayAll(me.rights, "key.create", id),
  );
  return workspaces.map(({ id: value, name: label }) => ({ value, label }));
}
