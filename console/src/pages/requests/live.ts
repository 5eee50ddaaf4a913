/** The log as it grows: new rows enter at its top while the reader is there, and wait behind their number else. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { StreamEvent } from "../../api/events.ts";
import { parseUsd } from "../../base/money.ts";
import { useEvents } from "../../ui/use-events.ts";
import type { Filters } from "./filters.ts";
import { merged, unknownOf, type Pages, type Row } from "./merge.ts";
import { listKey, readPage } from "./queries.ts";

/** Rows that wait; of more only the number is kept. */
const waitingMax = 500;
const topPx = 8;
const isAtTop = (): boolean => scrollY <= topPx;

interface Waiting {
  readonly rows: readonly Row[];
  /** Came too fast to be kept. */
  readonly skipped: number;
}

const nothing: Waiting = { rows: [], skipped: 0 };

export interface Live {
  /** New rows that are not shown yet. */
  readonly count: number;
  /** Shows them. */
  readonly show: () => void;
}

/** The stream's own filters; the others are looked at here. */
const filterOf = ({ ws, key, member, model, provider, status, protocol, http, code }: Filters) => ({
  workspace_id: ws,
  key_id: key,
  member_id: member,
  model,
  provider,
  status,
  protocol,
  http_status: http,
  error_code: code,
});

/** Whether a row has what the stream was not asked for. */
const fits = (row: Row, { cost, slower, changed }: Filters): boolean =>
  (cost === undefined || parseUsd(row.cost) >= parseUsd(cost)) &&
  (slower === undefined || (row.duration_ms ?? 0) >= Number(slower)) &&
  (changed === undefined || (row.dropped_count ?? 0) > 0);

export function useLive(filters: Filters, enabled: boolean): Live {
  const queries = useQueryClient();
  const [waiting, setWaiting] = useState(nothing);
  const queryKey = listKey(filters);

  const enter = (rows: readonly Row[]) =>
    queries.setQueryData<Pages>(queryKey, (list) => list && merged(list, rows));

  const take = (rows: readonly Row[]) => {
    if (isAtTop()) return enter(rows);
    const list = queries.getQueryData<Pages>(queryKey);
    const fresh = list === undefined ? rows : unknownOf(list, rows);
    return setWaiting((before) => {
      const known = new Set(before.rows.map(({ id }) => id));
      const all = [...before.rows, ...fresh.filter(({ id }) => !known.has(id))];
      const over = Math.max(0, all.length - waitingMax);
      return { rows: all.slice(over), skipped: before.skipped + over };
    });
  };

  /** What was written before the stream began, or while it was away. */
  const catchUp = async () => {
    if (queries.getQueryData(queryKey) === undefined) await queries.cancelQueries({ queryKey });
    const page = await readPage(filters);
    const list = queries.getQueryData<Pages>(queryKey);
    const isLost =
      list !== undefined && page.has_more && unknownOf(list, page.data).length === page.data.length;
    if (list === undefined || isLost) {
      setWaiting(nothing);
      queries.setQueryData<Pages>(queryKey, { pages: [page], pageParams: [undefined] });
    } else take(page.data);
  };

  /** Rows say the code of their error and not its message: whether it has a text the list alone knows. */
  const come = (row: Row) => {
    if (!fits(row, filters)) return;
    if (filters.q === undefined) take([row]);
    else if (row.error !== null) void catchUp().catch(() => undefined);
  };

  useEvents({
    topics: ["requests"],
    filter: filterOf(filters),
    enabled,
    on: (event: StreamEvent) => {
      if (event.type === "ready" || event.type === "reset") void catchUp().catch(() => undefined);
      else if (event.type === "row") come(event.row as Row);
      else if (event.type === "skipped")
        setWaiting((before) => ({ ...before, skipped: before.skipped + event.count }));
    },
  });

  const show = () => {
    const { rows, skipped } = waiting;
    setWaiting(nothing);
    if (skipped > 0) void catchUp().catch(() => undefined);
    else enter(rows);
    scrollTo({ top: 0 });
  };
  useShowAtTop(waiting.rows.length > 0 && waiting.skipped === 0, show);
  return { count: waiting.rows.length + waiting.skipped, show };
}

/** Whoever scrolls to the top sees what waits there. */
function useShowAtTop(hasWaiting: boolean, show: () => void): void {
  useEffect(() => {
    if (!hasWaiting) return undefined;
    const look = () => isAtTop() && show();
    addEventListener("scroll", look, { passive: true });
    return () => removeEventListener("scroll", look);
  });
}
