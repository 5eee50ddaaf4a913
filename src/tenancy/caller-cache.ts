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
}

interface Entry {
  readonly caller: Caller;
  readonly loadedAtMs: number;
  /** How many uses of the cache came before its last one. */
  usedAt: number;
}

/** What was changed past the gateway, by hand in SQL, sends no signal; it is noticed after this long. */
const ageMsMax = 60_000;

/** So many leave together, of a full cache, as a share: to find them takes a look at all. */
const leavingShare = 1 / 16;

/** A cache of at most `sizeMax` callers; those unused for longest leave first. */
export function createCallerCache(sizeMax: number): CallerCache {
  let uses = 0;
  // A map whose entries move to its end at each use is made anew every few calls.
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
      // A clock that jumped back makes the age negative, which proves nothing.
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
