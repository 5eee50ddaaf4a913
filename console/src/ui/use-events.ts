/** What is new, for a page: it follows while it is shown. */
import { useEffect, useEffectEvent } from "react";
import { follow, type EventFilter, type StreamEvent, type Topic } from "../api/events.ts";

interface UseEventsOptions {
  readonly topics: readonly Topic[];
  /** Values that rows must have, by the names of the API's filters. */
  readonly filter?: EventFilter;
  /** False: nothing is followed now. Yes if absent. */
  readonly enabled?: boolean;
  readonly on: (event: StreamEvent) => void;
}

/** Calls `on` with each event. After `ready` and `reset` the page reads what it shows, and nothing is missed from then on. */
export function useEvents({ topics, filter = {}, enabled = true, on }: UseEventsOptions): void {
  const handle = useEffectEvent(on);
  const wanted = JSON.stringify([topics, filter]);
  useEffect(() => {
    if (!enabled) return undefined;
    const [of, values] = JSON.parse(wanted) as [readonly Topic[], EventFilter];
    return follow({ topics: of, filter: values, on: (event) => handle(event) });
  }, [wanted, enabled]);
}
