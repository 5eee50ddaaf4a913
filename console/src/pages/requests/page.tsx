/** The log: who called what, when, how it ended and what it cost. */
import { DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Page } from "../../ui/page.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { columns } from "./columns.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { filterNames, type Filters } from "./filters.ts";
import { useRows } from "./queries.ts";
import { getRouteApi } from "@tanstack/react-router";

const route = getRouteApi("/shell/requests");

export function RequestsPage() {
  const filters: Filters = route.useSearch();
  const query = useRows(filters);
  const rows = query.data?.pages.flatMap(({ data }) => data);
  const isFiltered = filterNames.some((name) => filters[name] !== undefined);
  return (
    <Page title="Requests">
      <FilterBar filters={filters} />
      {query.error !== null && (
        <RegionError what="requests" error={query.error} retry={query.refetch} />
      )}
      {rows?.length === 0 && !query.hasNextPage ? (
        <Empty
          text={isFiltered ? "No call fits these filters." : "No calls yet."}
          to={isFiltered ? "/requests" : "/start"}
          action={isFiltered ? "Remove the filters" : "Make your first call"}
        />
      ) : (
        <DataTable
          label="Requests, newest first"
          columns={columns}
          rows={rows}
          keyOf={({ id }) => id}
          more={query.hasNextPage ? () => void query.fetchNextPage() : undefined}
          moreUnderWay={query.isFetchingNextPage}
        />
      )}
    </Page>
  );
}
