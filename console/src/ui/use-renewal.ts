/** Reads what a page shows again whenever the stream says that it is another, and not more often than it can be looked at. */
import { useEffect, useRef } from "react";
import type { EventFilter, StreamEvent, Topic } from "../api/events.ts";
import { useEvents } from "./use-events.ts";

interface UseRenewalOptions {
  readonly topics: readonly Topic[];
  /** Values that rows must have, by the names of the API's filters. */
  readonly filter?: EventFilter;
  /** False: nothing is followed now. Yes if absent. */
  readonly enabled?: boolean;
  /** Whether a row is about what is shown: where a page follows several things, each gets the rows of all. Yes if absent. */
  readonly isAbout?: (row: { readonly id: string }) => boolean;
  /** Reads it again. */
  readonly renew: () => unknown;
}

const everyMs = 1_000;

/** Calls `renew` when a stream begins and when something came: at once, and then once a second at most. */
export function useRenewal({ isAbout = () => true, renew, ...followed }: UseRenewalOptions): void {
  const again = useRef<ReturnType<typeof setTimeout>>(undefined);
  const isWanted = useRef(false);
  useEffect(() => () => clearTimeout(again.current), []);
  const run = () => {
    if (again.current !== undefined) {
      isWanted.current = true;
      return;
    }
    isWanted.current = false;
    void renew();
    again.current = setTimeout(() => {
      again.current = undefined;
      if (isWanted.current) run();
    }, everyMs);
  };
  useEvents({
    ...followed,
    on: (event: StreamEvent) => {
      if (event.type === "row" && !isAbout(event.row)) return;
      run();
    },
  });
}
