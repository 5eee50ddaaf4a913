/** Shows that the data may be old: the event stream is broken, and reconnects by itself. */
import { Text } from "@mantine/core";
import { useSyncExternalStore } from "react";
import { streamBrokenAt, watchStream } from "../api/events.ts";
import { readClock } from "../base/time.ts";
import { useZone } from "./zone.ts";

export function Stale() {
  const since = useSyncExternalStore(watchStream, streamBrokenAt);
  // Draws the time again in another zone.
  useZone();
  return (
    <Text component="output" size="sm" c="var(--warn)" className="cut" aria-label="Stream">
      {since === undefined ? "" : `Shown as of ${readClock(since)}, reconnecting`}
    </Text>
  );
}
