/**
 * Limits how many results one process fetches at a time: each has some 20 MB of its file in memory on the way to a bucket. After a
 * stop of the gateway all results that vendors have made meanwhile are due at once. docs/tasks.md.
 */
import { createPlaces, type Placed } from "./places.ts";

export interface Fetching {
  /** Runs `work` once there is a slot for it. One workspace gets at most half of the slots. */
  inTurn<Result>(of: Placed, work: () => Promise<Result>): Promise<Result>;
  /** Within `inTurn`: others may use the slot while `pause` lasts, which needs no memory for a file. */
  pauseOf(of: Placed, pause: () => Promise<void>): Promise<void>;
}

interface Waiting {
  readonly of: Placed;
  resume(): void;
}

/** Slots for results in one process. */
export const fetchesMax = 32;

/** Creates the limiter, with all slots free. */
export function createFetching(total = fetchesMax): Fetching {
  const places = createPlaces({ total });
  // At most as many as there are steps in flight.
  const waiting = new Set<Waiting>();

  function next(): void {
    for (const one of waiting) {
      if (!places.hasRoom()) return;
      if (places.take([one.of]).length === 0) continue;
      waiting.delete(one);
      one.resume();
    }
  }

  const turnOf = (of: Placed): Promise<void> =>
    new Promise((resume) => waiting.add({ of, resume }));

  function leave(of: Placed): void {
    places.leave(of);
    next();
  }

  return {
    async inTurn(of, work) {
      if (places.take([of]).length === 0) await turnOf(of);
      try {
        return await work();
      } finally {
        leave(of);
      }
    },
    async pauseOf(of, pause) {
      leave(of);
      await pause();
      if (places.take([of]).length === 0) await turnOf(of);
    },
  };
}
