/** The log: who called what, when, how it ended and what it cost. */
import { getRouteApi } from "@tanstack/react-router";
import { NoRows } from "../../ui/empty.tsx";
import { LongList } from "../../ui/long-list.tsx";
import { Page } from "../../ui/page.tsx";
import { columns } from "./columns.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { filterNames, inPeriod } from "./filters.ts";
import { LiveBar, LiveSwitch } from "./live-bar.tsx";
import { useLive } from "./live.ts";
import { useRows } from "./queries.ts";

const route = getRouteApi("/shell/requests");

export function RequestsPage() {
  const { live, ...filters } = route.useSearch();
  // A period that has ended grows no more.
  const isPast = inPeriod(filters).to !== undefined;
  const isLive = live === "1" && !isPast;
  const isFiltered = filterNames.some((name) => filters[name] !== undefined);
  return (
    <Page title="Requests" aside={<LiveSwitch isLive={isLive} isPast={isPast} />}>
      <FilterBar filters={filters} />
      <LiveBar {...useLive(filters, isLive)} />
      <LongList
        query={useRows(filters, isLive)}
        what="requests"
        label="Requests, newest first"
        columns={columns}
        keyOf={({ id }) => id}
        empty={<NoRows what="call" to="/requests" isFiltered={isFiltered} />}
      />
    </Page>
  );
}
