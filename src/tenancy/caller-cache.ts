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
  /** The characters of its allowlists. */
  readonly characters: number;
  /** The number of cache uses before the last use of this entry. */
  usedAt: number;
}

/** The maximum age of an entry. It bounds how long a change made in SQL by hand, which sends no signal, goes unnoticed. */
const ageMsMax = 60_000;

/** The share of a full cache that is evicted at once, because each eviction sorts all entries. */
const leavingShare = 1 / 16;

/**
 * Characters of the allowlists of all cached callers. Each caller has its own copy of its workspace's list, which may have ten thousand
 * names: the keys of one workspace could take all memory of the process.
 */
const charactersMaxDefault = 32 * 2 ** 20;
/** The memory of a name besides its characters, in its list and in the set by which the list is searched (routing/scope.ts). */
const charactersPerName = 72;

const charactersOf = ({ organization, workspace, key }: Caller): number =>
  [organization, workspace, key]
    .flatMap((layer) => layer?.modelAllowlist ?? [])
    .reduce((sum, name) => sum + name.length + charactersPerName, 0);

/** True if an entry is too old; a clock that was set back makes its age negative, so that it is unknown. */
function isOld({ loadedAtMs }: Entry, nowMs: number): boolean {
  const ageMs = nowMs - loadedAtMs;
  return ageMs < 0 || ageMs >= ageMsMax;
}

/** Creates a cache of at most `sizeMax` callers; evicts the least recently used first. */
export function createCallerCache(
  sizeMax: number,
  charactersMax = charactersMaxDefault,
): CallerCache {
  let uses = 0;
  let characters = 0;
  let sweptMs = -Infinity;
  // An LRU map that moves entries to its end would be rebuilt every few calls. So each entry counts its uses instead.
  const entries = new Map<string, Entry>();
  const loads = new Set<Load>();

  function remove(slot: string): undefined {
    characters -= entries.get(slot)?.characters ?? 0;
    entries.delete(slot);
  }

  /** Callers whose keys are not used any more would hold their plans, too, until the cache is full. */
  function forgetOld(nowMs: number): void {
    if (Math.abs(nowMs - sweptMs) < ageMsMax) return;
    sweptMs = nowMs;
    for (const [slot, entry] of entries) if (isOld(entry, nowMs)) remove(slot);
  }

  function makeRoom(): void {
    if (entries.size <= sizeMax && characters <= charactersMax) return;
    const byUse = [...entries].sort(([, one], [, other]) => one.usedAt - other.usedAt);
    const size = Math.min(sizeMax, Math.ceil(sizeMax * (1 - leavingShare)) + 1);
    const most = charactersMax * (1 - leavingShare);
    for (const [slot] of byUse) if (entries.size > size || characters > most) remove(slot);
  }

  return {
    get(slot, nowMs) {
      const entry = entries.get(slot);
      if (entry === undefined) return undefined;
      if (isOld(entry, nowMs)) return remove(slot);
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
      remove(load.slot);
      forgetOld(nowMs);
      const added = charactersOf(caller);
      characters += added;
      entries.set(load.slot, { caller, loadedAtMs: nowMs, characters: added, usedAt: (uses += 1) });
      makeRoom();
    },
    forgetSlot(slot) {
      remove(slot);
      for (const load of loads) if (load.slot === slot) load.stale = true;
    },
    forgetWhere(test) {
      for (const load of loads) load.stale = true;
      for (const [slot, entry] of entries) if (test(entry.caller)) remove(slot);
    },
  };
}
