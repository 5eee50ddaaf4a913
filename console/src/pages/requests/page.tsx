/** The log: who called what, when, how it ended and what it cost. */
import { getRouteApi } from "@tanstack/react-router";
import { readTime } from "../../base/time.ts";
import { NoRows } from "../../ui/empty.tsx";
import { LiveBar } from "../../ui/live-bar.tsx";
import { LongList } from "../../ui/long-list.tsx";
import { Page } from "../../ui/page.tsx";
import { columns } from "./columns.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { filterNames, inPeriod } from "./filters.ts";
import { useLive } from "./live.ts";
import { LiveSwitch } from "./live-switch.tsx";
import { useRows, type Page as Rows } from "./queries.ts";

const route = getRouteApi("/shell/requests");

/** Of rare filters a page looks at a part of the log. Where it found little there, going on is the reader's choice. */
const fewRows = 20;
function searchedTo(page: Rows | undefined): string | undefined {
  if (page?.scanned_to == null || page.data.length >= fewRows) return undefined;
  return `Searched back to ${readTime(new Date(page.scanned_to), new Date())}.`;
}

export function RequestsPage() {
  const { live, ...filters } = route.useSearch();
  // A period that has ended grows no more.
  const isPast = inPeriod(filters).to !== undefined;
  const isLive = live === "1" && !isPast;
  const isFiltered = filterNames.some((name) => filters[name] !== undefined);
  const query = useRows(filters, isLive);
  return (
    <Page title="Requests" aside={<LiveSwitch isLive={isLive} isPast={isPast} />}>
      <FilterBar filters={filters} />
      <LiveBar {...useLive(filters, isLive)} />
      <LongList
        query={query}
        pause={searchedTo(query.data?.pages.at(-1))}
        what="requests"
        label="Requests, newest first"
        columns={columns}
        keyOf={({ id }) => id}
        empty={<NoRows what="call" to="/requests" isFiltered={isFiltered} />}
      />
    </Page>
  );
}
