/** The log: who called what, when, how it ended and what it cost. */
import { NoRows } from "../../ui/empty.tsx";
import { LongList } from "../../ui/long-list.tsx";
import { Page } from "../../ui/page.tsx";
import { columns } from "./columns.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { filterNames, type Filters } from "./filters.ts";
import { useRows } from "./queries.ts";
import { getRouteApi } from "@tanstack/react-router";

const route = getRouteApi("/shell/requests");

export function RequestsPage() {
  const filters: Filters = route.useSearch();
  const isFiltered = filterNames.some((name) => filters[name] !== undefined);
  return (
    <Page title="Requests">
      <FilterBar filters={filters} />
      <LongList
        query={useRows(filters)}
        what="requests"
        label="Requests, newest first"
        columns={columns}
        keyOf={({ id }) => id}
        empty={<NoRows what="call" to="/requests" isFiltered={isFiltered} />}
      />
    </Page>
  );
}
