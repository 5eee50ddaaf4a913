/**
 * How many results one process fetches at a time: each holds parts of its file in memory on the way to a bucket, some 20 MB. After a
 * stop all that vendors have made meanwhile is due at once. docs/tasks.md.
 */
import { createPlaces, type Placed } from "./places.ts";

export interface Fetching {
  /** Runs `work` once there is a place for it: those of one workspace take at most half of them. */
  inTurn<Result>(of: Placed, work: () => Promise<Result>): Promise<Result>;
}

interface Waiting {
  readonly of: Placed;
  resume(): void;
}

/** As many places as one process has for results. */
export const fetchesMax = 32;

/** All places free. */
export function createFetching(total = fetchesMax): Fetching {
  const places = createPlaces({ total });
  // At most as many as there are steps under way.
  const waiting = new Set<Waiting>();

  function next(): void {
    for (const one of waiting) {
      if (!places.hasRoom()) return;
      if (places.take([one.of]).length === 0) continue;
      waiting.delete(one);
      one.resume();
    }
  }

  return {
    async inTurn(of, work) {
      if (places.take([of]).length === 0)
        await new Promise<void>((resume) => waiting.add({ of, resume }));
      try {
        return await work();
      } finally {
        places.leave(of);
        next();
      }
    },
  };
}
