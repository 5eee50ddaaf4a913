/** The request log: callers, times, outcomes and costs. */
import { Group, Text } from "@mantine/core";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { readTime } from "../../base/time.ts";
import { NoRows } from "../../ui/empty.tsx";
import { LiveBar } from "../../ui/live-bar.tsx";
import { LongList } from "../../ui/long-list.tsx";
import { Page } from "../../ui/page.tsx";
import { usePageKeys } from "../../ui/shortcuts.ts";
import { useToday } from "../../ui/use-today.ts";
import { ColumnChoice, useChosenColumns } from "./column-choice.tsx";
import { columnsOf, widthOf } from "./columns.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { filterNames, inPeriod, withinOf, type Filters } from "./filters.ts";
import { liveCalls } from "./live.ts";
import { LiveSwitch } from "./live-switch.tsx";
import { useRows, type Page as Rows } from "./queries.ts";
import { Strip } from "./strip.tsx";

const Peek = lazy(async () => ({ default: (await import("./one/peek.tsx")).Peek }));

const route = getRouteApi("/shell/requests");

/** With rare filters, a page scans a part of the log. If it finds few rows, the reader decides whether to continue. */
const fewRows = 20;
function searchedTo(page: Rows | undefined): string | undefined {
  if (page?.scanned_to == null || page.data.length >= fewRows) return undefined;
  return `Searched back to ${readTime(new Date(page.scanned_to))}.`;
}

/** Why live updates are not possible. */
function disabledReasonOf(filters: Filters): string | undefined {
  if (filters.sort !== undefined) return "Live needs the order newest first.";
  return inPeriod(filters).to === undefined ? undefined : "This period has ended.";
}

/** Names the time range of the list by cost, which is limited. */
function Dearest({ filters, last }: { filters: Filters; last: Rows | undefined }) {
  const now = useToday();
  const { from } = inPeriod(filters);
  const begin = last?.scanned_to ?? from;
  if (filters.sort === undefined || begin === undefined) return null;
  return (
    <Text size="sm" mb="sm" className="muted">
      Most expensive first, since {readTime(new Date(begin), now)}. For earlier calls choose an
      earlier period of at most 31 days.
    </Text>
  );
}

export function RequestsPage() {
  const { live, open, ...filters } = withinOf(route.useSearch());
  const navigate = useNavigate();
  const disabledReason = disabledReasonOf(filters);
  const isLive = live === "1" && disabledReason === undefined;
  const isFiltered = filterNames.some((name) => filters[name] !== undefined);
  const chosen = useChosenColumns();
  const query = useRows(filters, isLive);
  const rows = query.data?.pages.flatMap(({ data }) => data) ?? [];
  const change = (to: Record<string, string | undefined>, replace = false) =>
    void navigate({
      to: "/requests",
      search: (before) => ({ ...before, ...to }),
      resetScroll: false,
      replace,
    });
  const turnLive = () => change({ live: isLive ? undefined : "1" });
  usePageKeys([
    { key: "l", what: "Live on or off", act: () => disabledReason === undefined && turnLive() },
  ]);
  return (
    <Page
      title="Requests"
      aside={
        <Group gap="sm">
          <ColumnChoice />
          <LiveSwitch isLive={isLive} disabledReason={disabledReason} turn={turnLive} />
        </Group>
      }
    >
      <FilterBar filters={filters} />
      <Strip filters={filters} isLive={isLive} set={(chosen) => change({ live, ...chosen })} />
      <Dearest filters={filters} last={query.data?.pages.at(-1)} />
      <LiveBar {...liveCalls(filters, isLive)} />
      <LongList
        query={query}
        pause={searchedTo(query.data?.pages.at(-1))}
        what="requests"
        label={
          filters.sort === undefined ? "Requests, newest first" : "Requests, most expensive first"
        }
        columns={columnsOf(chosen)}
        minWidth={widthOf(chosen)}
        keyOf={({ id }) => id}
        empty={<NoRows what="call" to="/requests" isFiltered={isFiltered} />}
      />
      <Suspense>
        {open !== undefined && (
          <Peek
            id={open}
            ids={rows.map(({ id }) => id)}
            show={(id) => change({ open: id }, id !== undefined)}
          />
        )}
      </Suspense>
    </Page>
  );
}
