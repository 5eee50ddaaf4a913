/** The list of keys: their owners, caps, and used shares. */
import { Button } from "@mantine/core";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { mayAll } from "../../base/rights.ts";
import { NoRows } from "../../ui/empty.tsx";
import { NoWorkspace, useKeyWorkspace } from "../../ui/key-workspace.tsx";
import { LongList } from "../../ui/long-list.tsx";
import { Page } from "../../ui/page.tsx";
import { useDisabledWorkspaces, useWorkspaceNames } from "../../ui/workspaces.ts";
import { columnsOf } from "./columns.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { NewKey } from "./new-key.tsx";
import { useKeys } from "./queries.ts";

const route = getRouteApi("/shell/keys");

export function KeysPage() {
  const filters = route.useSearch();
  const navigate = useNavigate();
  const names = useWorkspaceNames();
  const disabled = useDisabledWorkspaces();
  const workspace = useKeyWorkspace(filters.ws);
  const { data: me } = api.useQuery("get", "/admin/v1/me");
  const mayMake = me !== undefined && mayAll(me.rights, "key.create", filters.ws);
  const isFiltered = [filters.status, filters.owner, filters.q].some((one) => one !== undefined);
  const show = (isNew: boolean) =>
    void navigate({ to: "/keys", search: { ...filters, new: isNew ? "1" : undefined } });
  return (
    <Page title="Keys" aside={mayMake && <Button onClick={() => show(true)}>New key</Button>}>
      <FilterBar filters={filters} />
      <LongList
        query={useKeys(filters)}
        what="keys"
        label="Keys"
        columns={columnsOf(names, disabled, filters.ws === undefined)}
        keyOf={({ id }) => id}
        empty={
          workspace.isNone && !isFiltered ? (
            <NoWorkspace />
          ) : (
            <NoRows what="key" to="/keys" isFiltered={isFiltered} />
          )
        }
      />
      {mayMake && (
        <NewKey ws={filters.ws} opened={filters.new !== undefined} close={() => show(false)} />
      )}
    </Page>
  );
}
