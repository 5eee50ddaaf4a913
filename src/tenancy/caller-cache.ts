/**
 * A bounded cache of usable callers, by lookup value. A load that was in flight when something changed must not be written back,
 * because its result may be older than the change (T73).
 */
import type { Caller } from "./caller.ts";

/** One load from the database, from before its statement is sent until its result is used. */
export interface Load {
  readonly slot: string;
  /** True once a change came in during the load. */
  stale: boolean;
}

export interface CallerCache {
  get(slot: string, nowMs: number): Caller | undefined;
  /** Registers a load. The caller must pass it to `end`. */
  begin(slot: string): Load;
  end(load: Load): void;
  /** Caches the loaded caller, unless something changed during the load. */
  put(load: Load, caller: Caller, nowMs: number): void;
  /** Removes one slot, after the database refused its key. */
  forgetSlot(slot: string): void;
  /** Removes every caller that matches `test`. Marks every load in flight as stale: which rows it read is not known yet. */
  forgetWhere(test: (caller: Caller) => boolean): void;
}

interface Entry {
  readonly caller: Caller;
  readonly loadedAtMs: number;
  /** The number of cache uses before the last use of this entry. */
  usedAt: number;
}

/** The maximum age of an entry. It bounds how long a change made in SQL by hand, which sends no signal, goes unnoticed. */
const ageMsMax = 60_000;

/** The share of a full cache that is evicted at once, because each eviction sorts all entries. */
const leavingShare = 1 / 16;

/** Creates a cache of at most `sizeMax` callers; evicts the least recently used first. */
export function createCallerCache(sizeMax: number): CallerCache {
  let uses = 0;
  // An LRU map that moves entries to its end would be rebuilt every few calls. So each entry counts its uses instead.
  const entries = new Map<string, Entry>();
  const loads = new Set<Load>();

  function makeRoom(): void {
    if (entries.size <= sizeMax) return;
    const byUse = [...entries].sort(([, one], [, other]) => one.usedAt - other.usedAt);
    const leaving = Math.max(1, Math.floor(sizeMax * leavingShare));
    for (const [slot] of byUse.slice(0, leaving)) entries.delete(slot);
  }

  return {
    get(slot, nowMs) {
      const entry = entries.get(slot);
      if (entry === undefined) return undefined;
      // A clock that was set back makes the age negative, so the entry's age is unknown.
      const ageMs = nowMs - entry.loadedAtMs;
      if (ageMs < 0 || ageMs >= ageMsMax) {
        entries.delete(slot);
        return undefined;
      }
      entry.usedAt = uses += 1;
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
      entries.set(load.slot, { caller, loadedAtMs: nowMs, usedAt: (uses += 1) });
      makeRoom();
    },
    forgetSlot(slot) {
      entries.delete(slot);
      for (const load of loads) if (load.slot === slot) load.stale = true;
    },
    forgetWhere(test) {
      for (const load of loads) load.stale = true;
      for (const [slot, entry] of entries) if (test(entry.caller)) entries.delete(slot);
    },
  };
}
