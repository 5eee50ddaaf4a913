/**
 * Keeps rows that the stream delivers while their list is read. The response may be older than these rows, and replaces the list. So
 * they are merged into it again.
 */
import { hashKey, useQueryClient, type QueryKey } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useRef } from "react";
import type { Listed } from "../base/merge.ts";

export interface ReceivedRow<Row> {
  readonly row: Row;
  /** It belongs to the list. */
  readonly isWanted: boolean;
}

interface RowsDuringRead<Row> {
  /** Keeps rows while a read is in flight. */
  readonly note: (rows: readonly ReceivedRow<Row>[]) => void;
  /** Runs a separate read. `newer` are the rows that came since it began. */
  readonly during: <Found>(
    read: () => Promise<Found>,
  ) => Promise<{ readonly found: Found; readonly newer: readonly ReceivedRow<Row>[] }>;
}

/** The most rows kept, however long a read takes. */
const keptMax = 1_000;

/** `putBack` gets the rows that came during each read of the query, as soon as its response is stored. */
export function useRowsDuringRead<Row extends Listed>(
  queryKey: QueryKey,
  putBack: (rows: readonly ReceivedRow<Row>[]) => void,
): RowsDuringRead<Row> {
  const queries = useQueryClient();
  const received = useRef(new Map<string, ReceivedRow<Row> & { readonly at: number }>());
  const clock = useRef(0);
  const ownReads = useRef(0);
  const hash = hashKey(queryKey);
  const isReading = (): boolean =>
    ownReads.current > 0 || (queries.getQueryState(queryKey)?.fetchStatus ?? "idle") !== "idle";
  const restoreRows = useEffectEvent(() => putBack([...received.current.values()]));
  useEffect(
    () =>
      queries.getQueryCache().subscribe((event) => {
        if (event.type !== "updated" || event.query.queryHash !== hash) return;
        // Manual updates keep the current list and add rows to it.
        if (event.action.type === "success" && event.action.manual !== true) restoreRows();
      }),
    [queries, hash],
  );
  return {
    note(rows) {
      if (!isReading()) return received.current.clear();
      clock.current += 1;
      for (const one of rows) received.current.set(one.row.id, { ...one, at: clock.current });
      for (const id of received.current.keys()) {
        if (received.current.size <= keptMax) break;
        received.current.delete(id);
      }
    },
    async during(read) {
      const begun = clock.current;
      ownReads.current += 1;
      try {
        const found = await read();
        return { found, newer: [...received.current.values()].filter(({ at }) => at > begun) };
      } finally {
        ownReads.current -= 1;
      }
    },
  };
}
