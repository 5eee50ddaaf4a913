/** Subscribes a page to live events while it is mounted. */
import { useEffect, useEffectEvent } from "react";
import { follow, type EventFilter, type StreamEvent, type Topic } from "../api/events.ts";

interface UseEventsOptions {
  readonly topics: readonly Topic[];
  /** Values that rows must have, by API filter name. */
  readonly filter?: EventFilter;
  /** False: follows nothing. Yes if absent. */
  readonly enabled?: boolean;
  readonly on: (event: StreamEvent) => void;
}

/** Calls `on` with each event. After `ready` and `reset`, the page must read its data; no later event is missed. */
export function useEvents({ topics, filter = {}, enabled = true, on }: UseEventsOptions): void {
  const handle = useEffectEvent(on);
  const wanted = JSON.stringify([topics, filter]);
  useEffect(() => {
    if (!enabled) return undefined;
    const [of, values] = JSON.parse(wanted) as [readonly Topic[], EventFilter];
    return follow({ topics: of, filter: values, on: (event) => handle(event) });
  }, [wanted, enabled]);
}
