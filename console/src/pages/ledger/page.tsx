/** A workspace's ledger: every credit and charge, with the balance after it. */
import { Group, Select, Text } from "@mantine/core";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { ApiError, isMissing } from "../../api/errors.ts";
import { gatewayMs } from "../../base/clock.ts";
import { mayAll } from "../../base/rights.ts";
import { CsvButton } from "../../ui/csv-button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { KeySelect } from "../../ui/key-select.tsx";
import { Loading } from "../../ui/loading.tsx";
import { LongList } from "../../ui/long-list.tsx";
import { useOneWorkspace } from "../../ui/one-workspace.ts";
import { Page } from "../../ui/page.tsx";
import { PeriodPicker } from "../../ui/period-picker.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { SetFilters } from "../../ui/set-filters.tsx";
import { useWorkspaces, type Workspace } from "../../ui/workspaces.ts";
import { useToday } from "../../ui/use-today.ts";
import { columnsOf } from "./columns.tsx";
import { csvOf, isFiltered, kindOf, kinds, type Filters } from "./filters.ts";
import { useEntries, useKeyNames } from "./queries.ts";

const route = getRouteApi("/shell/money/ledger");

interface FilterBarProps {
  readonly id: string;
  readonly filters: Filters;
}

function FilterBar({ id, filters }: FilterBarProps) {
  const navigate = useNavigate();
  const set = (change: Partial<Filters>) =>
    void navigate({ to: "/money/ledger", search: { ...filters, ...change } });
  return (
    <Group gap="sm" mb="lg">
      <Select
        aria-label="Kind"
        placeholder="Any kind"
        w={140}
        clearable
        data={[...kinds]}
        value={kindOf(filters) ?? null}
        onChange={(kind) => set({ kind: kind ?? undefined })}
      />
      <KeySelect ws={id} value={filters.key} set={(key) => set({ key })} />
      <PeriodPicker
        search={filters}
        fallback={null}
        set={(chosen) => set({ period: undefined, from: undefined, to: undefined, ...chosen })}
      />
      <SetFilters
        names={["member", "reference"]}
        filters={filters}
        remove={(name) => set({ [name]: undefined })}
      />
      <CsvButton
        path={`/admin/v1/workspaces/${encodeURIComponent(id)}/ledger`}
        query={() => csvOf(filters, gatewayMs())}
        name="ledger"
        workspaceId={id}
        size="sm"
      />
    </Group>
  );
}

function Choose({ workspaces }: { workspaces: readonly Workspace[] }) {
  return (
    <>
      <Text mb="md">Each workspace has a ledger of its own.</Text>
      <ul>
        {workspaces.map(({ id, name }) => (
          <li key={id} style={{ padding: "4px 0" }}>
            <Link
              to="/money/ledger"
              search={(before) => ({ ...before, ws: id })}
              style={{ padding: "4px 0" }}
            >
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}

export function LedgerPage() {
  const filters: Filters = route.useSearch();
  const { id: asked, choices } = useOneWorkspace(filters.ws);
  const workspaces = useWorkspaces();
  const { data: me } = api.useQuery("get", "/admin/v1/me");
  const maySee = (one?: string) => me !== undefined && mayAll(me.rights, "ledger.read", one);
  const isClosed = me !== undefined && !maySee(asked);
  const id = me === undefined || isClosed ? undefined : asked;
  const query = useEntries(id, filters);
  const names = useKeyNames(id);
  const now = useToday();
  if (isClosed)
    return (
      <Page title="Ledger">
        <RegionError what="page" error={new ApiError(404, "")} />
      </Page>
    );
  return (
    <Page title="Ledger">
      {asked === undefined && <Loading of={[workspaces]} />}
      {asked === undefined && choices !== undefined && (
        <Choose workspaces={choices.filter(({ id: one }) => maySee(one))} />
      )}
      {id !== undefined && (
        <>
          <FilterBar id={id} filters={filters} />
          <LongList
            query={query}
            what={isMissing(query.error) ? "workspace" : "entries"}
            label="Entries of the ledger, newest first"
            columns={columnsOf(names, now)}
            keyOf={(entry) => entry.id}
            empty={
              isFiltered(filters) ? (
                <Empty
                  text="No entries match these filters."
                  to="/money/ledger"
                  action="Remove the filters"
                />
              ) : (
                <Empty text="No entries yet." to="/start" action="Make a call" />
              )
            }
          />
        </>
      )}
    </Page>
  );
}
