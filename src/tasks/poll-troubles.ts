/**
 * Decides which failures of polls are logged. A vendor that is down is polled every few seconds for each of its tasks, for a day. Its
 * trouble is logged when it begins, now and then as long as it lasts, and when it is over. docs/tasks.md.
 */

/** Milliseconds after which lasting trouble is logged again, and after which trouble that was not met counts as new. */
const againMs = 600_000;
/** Milliseconds: one good answer does not end trouble that is younger. */
const overMs = 60_000;
/** Troubles that are kept in memory; normally there are far fewer. */
const keptMax = 1_000;

interface Trouble {
  readonly sinceMs: number;
  loggedMs: number;
  lastMs: number;
}

export interface PollTroubles {
  /** Records trouble; true if it is to be logged now. */
  shouldLogStart(what: string): boolean;
  /** Records that trouble is over; true if that is to be logged. */
  shouldLogRecovery(what: string): boolean;
}

/** Starts without trouble. `now`: monotonic milliseconds. */
export function createPollTroubles(now: () => number = () => performance.now()): PollTroubles {
  const troubles = new Map<string, Trouble>();

  function forgetOld(nowMs: number): void {
    for (const [what, { lastMs }] of troubles) if (nowMs - lastMs >= againMs) troubles.delete(what);
    if (troubles.size >= keptMax) troubles.clear();
  }

  return {
    shouldLogStart(what) {
      const nowMs = now();
      const known = troubles.get(what);
      if (known === undefined || nowMs - known.lastMs >= againMs) {
        if (troubles.size >= keptMax) forgetOld(nowMs);
        troubles.set(what, { sinceMs: nowMs, loggedMs: nowMs, lastMs: nowMs });
        return true;
      }
      known.lastMs = nowMs;
      if (nowMs - known.loggedMs < againMs) return false;
      known.loggedMs = nowMs;
      return true;
    },
    shouldLogRecovery(what) {
      const known = troubles.get(what);
      if (known === undefined || now() - known.sinceMs < overMs) return false;
      return troubles.delete(what);
    },
  };
}
