/**
 * Callers known to be usable, by lookup value: bounded, and safe against loads that were under way when something
 * changed (T73): their result is older than the change and must not be written back.
 */
import type { Caller } from "./caller.ts";

/** One reading of the database, from before its statement is sent until its answer is used. */
export interface Load {
  readonly slot: string;
  /** A change came in while the load was under way. */
  stale: boolean;
}

export interface CallerCache {
  get(slot: string, nowMs: number): Caller | undefined;
  /** Announces a load; each is ended. */
  begin(slot: string): Load;
  end(load: Load): void;
  /** Keeps the caller a load found, unless something changed meanwhile. */
  put(load: Load, caller: Caller, nowMs: number): void;
  /** Forgets one slot: the database was seen to refuse it. */
  forgetSlot(slot: string): void;
  /** Forgets every caller the test holds for, and spoils every load under way: which rows they read is not known yet. */
  forgetWhere(test: (caller: Caller) => boolean): void;
  readonly size: number;
}

interface Entry {
  readonly caller: Caller;
  readonly loadedAtMs: number;
}

/** What was changed past the gateway, by hand in SQL, sends no signal; it is noticed after this long. */
const ageMsMax = 60_000;

/** A cache of at most `sizeMax` callers; the one unused for longest leaves first. */
export function createCallerCache(sizeMax: number): CallerCache {
  // A Map keeps the order of insertion: the first entry is the one unused for longest.
  const entries = new Map<string, Entry>();
  const loads = new Set<Load>();
  return {
    get(slot, nowMs) {
      const entry = entries.get(slot);
      if (entry === undefined) return undefined;
      entries.delete(slot);
      // A clock that jumped back makes the age negative, which proves nothing.
      const ageMs = nowMs - entry.loadedAtMs;
      if (ageMs < 0 || ageMs >= ageMsMax) return undefined;
      entries.set(slot, entry);
      return entry.caller;
    },
    begin(slot) {
      const load = { slot, stale: false };
      loads.add(load);
      return load;
    },
    end: (load) => void loads.delete(load),
    put(load, caller, nowMs) {
      if (load.stale) return;
      entries.delete(load.slot);
      entries.set(load.slot, { caller, loadedAtMs: nowMs });
      const oldest = entries.keys().next();
      if (entries.size > sizeMax && oldest.done !== true) entries.delete(oldest.value);
    },
    forgetSlot(slot) {
      entries.delete(slot);
      for (const load of loads) if (load.slot === slot) load.stale = true;
    },
    forgetWhere(test) {
      for (const load of loads) load.stale = true;
      for (const [slot, entry] of entries) if (test(entry.caller)) entries.delete(slot);
    },
    get size() {
      return entries.size;
    },
  };
}
