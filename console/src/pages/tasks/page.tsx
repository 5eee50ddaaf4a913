/** Finished and running tasks for images and videos, as a gallery or a table. */
import { getRouteApi } from "@tanstack/react-router";
import { DataTable } from "../../ui/data-table.tsx";
import { NoRows } from "../../ui/empty.tsx";
import { LiveBar } from "../../ui/live-bar.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Page } from "../../ui/page.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { columns } from "./columns.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { filterNames } from "./filters.ts";
import { Grid } from "./grid.tsx";
import { liveTasks, useTasks } from "./queries.ts";

const route = getRouteApi("/shell/tasks");

export function TasksPage() {
  const search = route.useSearch();
  const { ws, view, ...filters } = search;
  const query = useTasks({ ws, ...filters });
  const tasks = query.data?.pages.flatMap(({ data }) => data);
  const isFiltered = filterNames.some((name) => filters[name] !== undefined);
  const isTable = view === "table";
  return (
    <Page title="Tasks">
      <FilterBar filters={search} ws={ws} />
      <LiveBar {...liveTasks({ ws, ...filters })} />
      {query.error !== null && (
        <RegionError what="tasks" error={query.error} retry={query.refetch} />
      )}
      {tasks?.length === 0 && <NoRows what="task" to="/tasks" isFiltered={isFiltered} />}
      {isTable && (tasks === undefined ? query.error === null : tasks.length > 0) && (
        <DataTable
          label="Tasks, newest first"
          columns={columns}
          rows={tasks}
          keyOf={({ id }) => id}
          next={query}
        />
      )}
      {!isTable && <Loading of={[query]} />}
      {!isTable && tasks !== undefined && tasks.length > 0 && <Grid tasks={tasks} next={query} />}
    </Page>
  );
}
