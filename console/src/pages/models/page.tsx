/** The list of callable models with prices, providers and health. */
import { Button, Group } from "@mantine/core";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { DataTable } from "../../ui/data-table.tsx";
import { Page } from "../../ui/page.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { useMay } from "../../ui/use-may.ts";
import { Catalogue } from "./catalogue.tsx";
import { columnsOf } from "./columns.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { comparedMax, fits, idsOf, type Filters } from "./filters.ts";
import { useModels } from "./queries.ts";

const route = getRouteApi("/shell/models");

function CompareButton({ ids }: { ids: readonly string[] }) {
  if (ids.length < 2)
    return (
      <Button variant="default" disabled>
        Compare (choose 2 to {comparedMax})
      </Button>
    );
  return (
    <Button
      variant="default"
      renderRoot={(props) => (
        <Link to="/models/compare" search={({ ws }) => ({ ws, ids: ids.join(",") })} {...props} />
      )}
    >
      Compare ({ids.length})
    </Button>
  );
}

/** The reason why the list is empty. */
function emptyText(filters: Filters, all: number): ReactNode {
  if (all === 0 && filters["usable-by"] === undefined)
    return (
      <>
        No model yet. A provider brings its models along:{" "}
        <Link to="/providers" search={({ ws }) => ({ ws })}>
          providers
        </Link>
        .
      </>
    );
  return filters["usable-by"] === undefined
    ? "No models match these filters."
    : "No models of this key match these filters.";
}

export function ModelsPage() {
  const { ws, ...filters } = route.useSearch();
  const navigate = useNavigate();
  const read = useModels(filters["usable-by"]);
  const mayUpdate = useMay("catalog.change");
  const ids = idsOf(filters.ids).slice(0, comparedMax);
  const set = (change: Partial<Filters>) =>
    void navigate({ to: "/models", search: (before) => ({ ...before, ...change }), replace: true });
  const toggle = (id: string) => {
    const next = ids.includes(id) ? ids.filter((one) => one !== id) : [...ids, id];
    set({ ids: next.join(",") || undefined });
  };
  const all = read.data?.data ?? [];
  const rows = read.data && all.filter(fits(filters));
  const columns = columnsOf(filters["usable-by"] !== undefined, {
    ids,
    isFull: ids.length === comparedMax,
    toggle,
  });
  return (
    <Page
      title="Models"
      aside={
        <Group gap="sm">
          <CompareButton ids={ids} />
          {mayUpdate && (
            <Button variant="default" onClick={() => set({ catalog: "1" })}>
              Catalogue update
            </Button>
          )}
        </Group>
      }
    >
      <FilterBar filters={filters} ws={ws} models={all} />
      {read.error !== null && <RegionError what="models" error={read.error} retry={read.refetch} />}
      {rows?.length === 0 && <div className="panel">{emptyText(filters, all.length)}</div>}
      {(rows === undefined ? read.error === null : rows.length > 0) && (
        <DataTable
          label={rows === undefined ? "Models" : `${rows.length} of ${all.length} models`}
          columns={columns}
          rows={rows}
          keyOf={({ id }) => id}
        />
      )}
      {mayUpdate && (
        <Catalogue
          opened={filters.catalog !== undefined}
          close={() => set({ catalog: undefined })}
        />
      )}
    </Page>
  );
}
