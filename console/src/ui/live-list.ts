/** A live list: new rows enter at its top while the reader is there. Otherwise they wait, and only their number shows. */
import { useQueryClient, type QueryKey } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { EventFilter, RowTopic, StreamEvent } from "../api/events.ts";
import {
  hasGap,
  stillWaiting,
  withNewRows,
  withUpdatedRows,
  withWaiting,
  newRowsOf,
  type Listed,
  type ListPage,
  type Pages,
  type Waiting,
} from "../base/merge.ts";
import { useRowsDuringRead, type ReceivedRow } from "./rows-during-read.ts";
import { useEvents } from "./use-events.ts";

const topPx = 8;
const isAtTop = (): boolean => scrollY <= topPx;

interface Live {
  /** New rows that are not shown yet. */
  readonly count: number;
  /** Shows the waiting rows. */
  readonly show: () => void;
}

export interface LiveListOptions<Row extends Listed> {
  readonly topic: RowTopic;
  /** The filters that the stream applies; `fits` checks the others. */
  readonly filter: EventFilter;
  readonly enabled: boolean;
  /** The key of the list's infinite query. */
  readonly queryKey: QueryKey;
  readonly readFirst: () => Promise<ListPage<Row>>;
  /** The most rows of that page. */
  readonly pageSize: number;
  /** Whether a row belongs to the list; undefined: only the API can tell, and is asked. */
  readonly fits: (row: Row) => boolean | undefined;
}

const nothing = { rows: [], skipped: 0 } as const;

/** The rows of a list, both in it and waiting above it. */
function useRows<Row extends Listed>(queryKey: QueryKey) {
  const queries = useQueryClient();
  const [waiting, setWaiting] = useState<Waiting<Row>>(nothing);
  const list = () => queries.getQueryData<Pages<Row>>(queryKey);
  const change = (run: (list: Pages<Row>) => Pages<Row>) =>
    queries.setQueryData<Pages<Row>>(queryKey, (before) => before && run(before));
  const enter = (rows: readonly Row[]) => change((before) => withNewRows(before, rows));
  /** Updates rows that are already in the list. Returns the rows that match it. */
  const renew = (received: readonly ReceivedRow<Row>[]): readonly Row[] => {
    const rows = received.map(({ row }) => row);
    const wanted = new Set(received.filter(({ isWanted }) => isWanted).map(({ row }) => row.id));
    const fitting = ({ id }: Row) => wanted.has(id);
    change((before) => withUpdatedRows(before, rows, fitting));
    return rows.filter(fitting);
  };
  const putBack = (received: readonly ReceivedRow<Row>[]) => {
    const waits = new Set(waiting.rows.map(({ id }) => id));
    enter(renew(received).filter(({ id }) => !waits.has(id)));
    const now = list();
    if (now !== undefined) setWaiting((before) => stillWaiting(before, now));
  };
  const rowsDuringRead = useRowsDuringRead<Row>(queryKey, putBack);
  const take = (received: readonly ReceivedRow<Row>[]) => {
    rowsDuringRead.note(received);
    const rows = renew(received);
    const now = list();
    const isShown = isAtTop();
    const fresh = isShown ? [] : now === undefined ? rows : newRowsOf(now, rows);
    const all = received.map(({ row }) => row);
    setWaiting((before) => withWaiting(before, all, fresh));
    if (isShown) enter(rows);
  };
  return { waiting, setWaiting, list, enter, renew, take, during: rowsDuringRead.during };
}

/** Reads rows written before the stream began, or while it was broken. */
function useCatchUp<Row extends Listed>(
  { queryKey, readFirst, pageSize }: LiveListOptions<Row>,
  { list, setWaiting, enter, renew, take, during }: ReturnType<typeof useRows<Row>>,
): () => void {
  const queries = useQueryClient();
  return useOneAtATime(async () => {
    if (list() === undefined) await queries.cancelQueries({ queryKey });
    const { found: page, newer } = await during(readFirst).catch((error: unknown) => {
      // The list's own read was cancelled for this one: it now shows the error, and offers a retry.
      if (list() === undefined) void queries.refetchQueries({ queryKey });
      throw error;
    });
    const now = list();
    if (now === undefined || hasGap(now, page, pageSize)) {
      // A next page in flight belongs to the end of the old list.
      await queries.cancelQueries({ queryKey });
      setWaiting(nothing);
      queries.setQueryData<Pages<Row>>(queryKey, { pages: [page], pageParams: [undefined] });
      enter(renew(newer));
    } else {
      const known = new Set(newer.map(({ row }) => row.id));
      const rows = page.data.filter(({ id }) => !known.has(id));
      take(rows.map((row) => ({ row, isWanted: true })));
    }
  });
}

/** For one list only; `LiveBar` remounts it for another. */
export function useLiveList<Row extends Listed>(options: LiveListOptions<Row>): Live {
  const { topic, filter, enabled, queryKey, fits } = options;
  const list = useRows<Row>(queryKey);
  const { waiting, setWaiting, enter, take } = list;
  const catchUpSoon = useCatchUp(options, list);
  useEvents({
    topics: [topic],
    filter,
    enabled,
    on: (event: StreamEvent) => {
      if (event.type === "ready" || event.type === "reset") catchUpSoon();
      else if (event.type === "row") {
        const row = event.row as Row;
        const isWanted = fits(row);
        if (isWanted === undefined || (isWanted && !event.isFiltered)) catchUpSoon();
        else take([{ row, isWanted }]);
      } else if (event.type === "skipped") {
        if (event.isFiltered)
          setWaiting((before) => ({ ...before, skipped: before.skipped + event.count }));
        else catchUpSoon();
      }
    },
  });
  const show = () => {
    const { rows, skipped } = waiting;
    setWaiting(nothing);
    if (skipped > 0) catchUpSoon();
    else enter(rows);
    scrollTo({ top: 0 });
  };
  useShowAtTop(waiting.rows.length > 0 && waiting.skipped === 0, show);
  return { count: waiting.rows.length + waiting.skipped, show };
}

/** Scrolling to the top shows the waiting rows. */
function useShowAtTop(hasWaiting: boolean, show: () => void): void {
  useEffect(() => {
    if (!hasWaiting) return undefined;
    const look = () => isAtTop() && show();
    addEventListener("scroll", look, { passive: true });
    return () => removeEventListener("scroll", look);
  });
}

/** Runs one at a time, and once more if requested meanwhile: rows may arrive faster than a list is read. */
function useOneAtATime(run: () => Promise<void>): () => void {
  const state = useRef<"once" | "again">(undefined);
  const start = (): void => {
    if (state.current !== undefined) {
      state.current = "again";
      return;
    }
    state.current = "once";
    void run()
      .catch(() => undefined)
      .finally(() => {
        const isWanted = state.current === "again";
        state.current = undefined;
        if (isWanted) start();
      });
  };
  return start;
}
