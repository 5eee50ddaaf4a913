/** The reader's current day: times of today show without a date, and a page may stay open past midnight. All rows share one clock. */
import { useSyncExternalStore } from "react";
import { gatewayNow } from "../base/clock.ts";
import { isSameDay } from "../base/time.ts";

/** Interval of comparing days. One long timer would be late after the computer slept. */
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

/** A time of today; changes when the day does. */
export const useToday = (): Date => useSyncExternalStore(watch, () => today);
