/** The day that it is for the reader: times of today stand without their day, and a page may be open past midnight. One clock for all rows. */
import { useSyncExternalStore } from "react";
import { gatewayNow } from "../base/clock.ts";
import { isSameDay } from "../base/time.ts";

/** A computer that slept goes on counting where it stopped: its days are compared, not waited for. */
const everyMs = 20_000;

let today = gatewayNow();
let timer: ReturnType<typeof setTimeout> | undefined;
const watchers = new Set<() => void>();

function look(): void {
  clearTimeout(timer);
  timer = watchers.size === 0 ? undefined : setTimeout(look, everyMs);
  const now = gatewayNow();
  if (isSameDay(now, today)) return;
  today = now;
  for (const watcher of watchers) watcher();
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  if (watchers.size === 1) look();
  return () => watchers.delete(watcher);
}

/** A moment of today: another one once the day is another. */
export const useToday = (): Date => useSyncExternalStore(watch, () => today);
