/** The provider list: state and models for all readers, numbers and actions for organization admins. */
import { Button, Group } from "@mantine/core";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { DataTable } from "../../ui/data-table.tsx";
import { Page } from "../../ui/page.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { useMay } from "../../ui/use-may.ts";
import { AddProvider } from "./add.tsx";
import { insideColumns, outsideColumns } from "./columns.tsx";
import { useProviders } from "./queries.ts";
import { byNeed, type Provider } from "./state.ts";

const route = getRouteApi("/shell/providers");

const fits = (search: string) => (one: Provider) =>
  [one.id, one.dialect, one.source, ...one.models].some((text) =>
    text.toLowerCase().includes(search.toLowerCase()),
  );

/** Explains providers, and who must add one. */
const noneYet = (mayAdd: boolean): string =>
  `No provider yet. Providers answer the calls that come in: without one each call is refused. ${
    mayAdd
      ? "Choose Add provider, then a vendor, and enter your key."
      : "An organization admin can add one."
  }`;

export function ProvidersPage() {
  const { q = "", add } = route.useSearch();
  const navigate = useNavigate();
  const read = useProviders();
  const mayAdd = useMay("provider.create");
  const set = (change: { q?: string | undefined; add?: string | undefined }) =>
    void navigate({
      to: "/providers",
      search: (before) => ({ ...before, ...change }),
      replace: true,
    });
  const rows = read.data && byNeed(read.data.data.filter(fits(q)));
  return (
    <Page
      title="Providers"
      aside={mayAdd && <Button onClick={() => set({ add: "1" })}>Add provider</Button>}
    >
      <Group mb="lg">
        <SearchField label="Name or model" width={280} text={q} set={(text) => set({ q: text })} />
      </Group>
      {read.error !== null && (
        <RegionError what="providers" error={read.error} retry={read.refetch} />
      )}
      {rows?.length === 0 && (
        <div className="panel">
          {q === "" ? noneYet(mayAdd) : "No provider has this in its name or its models."}
        </div>
      )}
      {(rows === undefined ? read.error === null : rows.length > 0) && (
        <DataTable
          label="Providers, those in trouble first"
          columns={mayAdd ? insideColumns : outsideColumns}
          rows={rows}
          keyOf={({ id }) => id}
        />
      )}
      {mayAdd && rows?.length !== 0 && (
        <p className="muted">
          Calls and failures are of the last hour, on all gateways. Members and workspace admins see
          only states and models.
        </p>
      )}
      {mayAdd && <AddProvider opened={add !== undefined} close={() => set({ add: undefined })} />}
    </Page>
  );
}
