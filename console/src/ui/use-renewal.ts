/** Reads a page's data again when the stream reports a change, at a limited rate. */
import { useQueryClient, type QueryKey } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useRef } from "react";
import type { EventFilter, StreamEvent, Topic } from "../api/events.ts";
import { refetchAfterReads } from "./refetch-after-reads.ts";
import { useEvents } from "./use-events.ts";

interface UseRenewalOptions {
  readonly topics: readonly Topic[];
  /** Values that rows must have, by API filter name. */
  readonly filter?: EventFilter;
  /** False: follows nothing. Yes if absent. */
  readonly enabled?: boolean;
  /** Whether a row concerns this page: if a page follows several things, each gets the rows of all. Yes if absent. */
  readonly isAbout?: (row: { readonly id: string }) => boolean;
  /** Keys of the queries to read again. */
  readonly reads?: readonly QueryKey[];
  /** Called besides reading. */
  readonly renew?: () => void;
}

const everyMs = 1_000;

/**
 * Reads again when a stream begins and on each event: at once, then at most once a second. It waits for slower responses: restarting
 * each second, a slow read would never finish.
 */
export function useRenewal(options: UseRenewalOptions): void {
  const { isAbout = () => true, reads = [], renew, ...followed } = options;
  const queries = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const isBusy = useRef(false);
  const isWanted = useRef(false);
  useEffect(() => () => clearTimeout(timer.current), []);
  const read = useEffectEvent(async () => {
    renew?.();
    await Promise.all(reads.map((key) => refetchAfterReads(queries, key)));
  });
  const rested = () =>
    new Promise<void>((resolve) => {
      timer.current = setTimeout(resolve, everyMs);
    });
  const run = async () => {
    isBusy.current = true;
    isWanted.current = false;
    await Promise.all([rested(), read()]);
    isBusy.current = false;
    if (isWanted.current) await run();
  };
  useEvents({
    ...followed,
    on(event: StreamEvent) {
      if (event.type === "row" && !isAbout(event.row)) return;
      if (isBusy.current) isWanted.current = true;
      else void run();
    },
  });
}
