/**
 * Which troubles of polls the log tells. A vendor that is down is polled every few seconds for each of its tasks, for a day: its
 * trouble is told when it begins, once in a while as long as it lasts, and when it is over. docs/tasks.md.
 */

/** What is going on is told again after so long; what was not met for so long is new. */
const againMs = 600_000;
/** A trouble that is younger than that is not over by one good answer. */
const overMs = 60_000;
/** Providers, keys and statuses are not many. */
const keptMax = 1_000;

interface Trouble {
  readonly sinceMs: number;
  toldMs: number;
  lastMs: number;
}

export interface PollTroubles {
  /** Notes one; whether it is to be told now. */
  isNews(what: string): boolean;
  /** Notes that what was in trouble is well; whether that is to be told. */
  isOver(what: string): boolean;
}

/** Nothing is in trouble. `now`: monotonic milliseconds. */
export function createPollTroubles(now: () => number = () => performance.now()): PollTroubles {
  const troubles = new Map<string, Trouble>();

  function forgetOld(nowMs: number): void {
    for (const [what, { lastMs }] of troubles) if (nowMs - lastMs >= againMs) troubles.delete(what);
    if (troubles.size >= keptMax) troubles.clear();
  }

  return {
    isNews(what) {
      const nowMs = now();
      const known = troubles.get(what);
      if (known === undefined || nowMs - known.lastMs >= againMs) {
        if (troubles.size >= keptMax) forgetOld(nowMs);
        troubles.set(what, { sinceMs: nowMs, toldMs: nowMs, lastMs: nowMs });
        return true;
      }
      known.lastMs = nowMs;
      if (nowMs - known.toldMs < againMs) return false;
      known.toldMs = nowMs;
      return true;
    },
    isOver(what) {
      const known = troubles.get(what);
      if (known === undefined || now() - known.sinceMs < overMs) return false;
      return troubles.delete(what);
    },
  };
}
