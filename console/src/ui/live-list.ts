/** A list as it grows: new rows enter at its top while the reader is there, and wait behind their number else. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { EventFilter, RowTopic, StreamEvent } from "../api/events.ts";
import {
  merged,
  renewed,
  unknownOf,
  type Listed,
  type ListPage,
  type Pages,
} from "../base/merge.ts";
import { useEvents } from "./use-events.ts";

/** Rows that wait; of more only the number is kept. */
const waitingMax = 500;
const topPx = 8;
const isAtTop = (): boolean => scrollY <= topPx;

export interface Live {
  /** New rows that are not shown yet. */
  readonly count: number;
  /** Shows them. */
  readonly show: () => void;
}

interface LiveListOptions<Row extends Listed> {
  readonly topic: RowTopic;
  /** The stream's own filters; the others are looked at by `fits`. */
  readonly filter: EventFilter;
  readonly enabled: boolean;
  /** Of the infinite query whose list it is. */
  readonly queryKey: readonly unknown[];
  readonly readFirst: () => Promise<ListPage<Row>>;
  /** Whether a row is one of the list; undefined: the list alone knows, and is asked. */
  readonly fits: (row: Row) => boolean | undefined;
}

interface Waiting<Row> {
  readonly rows: readonly Row[];
  /** Came too fast to be kept. */
  readonly skipped: number;
}

const nothing = { rows: [], skipped: 0 } as const;

export function useLiveList<Row extends Listed>(options: LiveListOptions<Row>): Live {
  const { topic, filter, enabled, queryKey, readFirst, fits } = options;
  const queries = useQueryClient();
  const [waiting, setWaiting] = useState<Waiting<Row>>(nothing);
  const change = (run: (list: Pages<Row>) => Pages<Row>) =>
    queries.setQueryData<Pages<Row>>(queryKey, (list) => list && run(list));
  const enter = (rows: readonly Row[]) => change((list) => merged(list, rows));

  const take = (rows: readonly Row[], isWanted: (row: Row) => boolean) => {
    change((list) => renewed(list, rows, isWanted));
    const wanted = rows.filter(isWanted);
    if (isAtTop()) return enter(wanted);
    const list = queries.getQueryData<Pages<Row>>(queryKey);
    const fresh = list === undefined ? wanted : unknownOf(list, wanted);
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
    const page = await readFirst().catch((error: unknown) => {
      // Its own read was cancelled for this one: it says what is wrong, and can be asked to try again.
      if (queries.getQueryData(queryKey) === undefined) void queries.refetchQueries({ queryKey });
      throw error;
    });
    const list = queries.getQueryData<Pages<Row>>(queryKey);
    const isLost =
      list !== undefined && page.has_more && unknownOf(list, page.data).length === page.data.length;
    if (list === undefined || isLost) {
      setWaiting(nothing);
      queries.setQueryData<Pages<Row>>(queryKey, { pages: [page], pageParams: [undefined] });
    } else take(page.data, () => true);
  };
  const catchUpSoon = useOneAtATime(catchUp);

  useEvents({
    topics: [topic],
    filter,
    enabled,
    on: (event: StreamEvent) => {
      if (event.type === "ready" || event.type === "reset") catchUpSoon();
      else if (event.type === "row") {
        const row = event.row as Row;
        const isFitting = fits(row);
        if (isFitting === undefined) catchUpSoon();
        else take([row], () => isFitting);
      } else if (event.type === "skipped")
        setWaiting((before) => ({ ...before, skipped: before.skipped + event.count }));
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

/** Whoever scrolls to the top sees what waits there. */
function useShowAtTop(hasWaiting: boolean, show: () => void): void {
  useEffect(() => {
    if (!hasWaiting) return undefined;
    const look = () => isAtTop() && show();
    addEventListener("scroll", look, { passive: true });
    return () => removeEventListener("scroll", look);
  });
}

/** Runs one at a time, and once more where it was asked for meanwhile: rows come faster than a list is read. */
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
