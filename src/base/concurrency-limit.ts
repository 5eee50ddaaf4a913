/**
 * Limits concurrent work and queues the rest in order, for work that takes a thread of Node's pool. There are four threads, which files,
 * host names and compression need too.
 */
import { overloaded } from "./errors.ts";

/** Runs `work` when it is its turn. @throws GatewayError `overloaded` where too many wait; what the work throws */
export type ConcurrencyLimit = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Runs up to `max` at once; up to `waitingMax` wait. */
export function limitConcurrency(max: number, waitingMax = Infinity): ConcurrencyLimit {
  let free = max;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else if (waiting.length >= waitingMax)
      throw overloaded("Too many requests already wait for this. Retry in a moment.");
    // Work that ends passes its place to the next.
    else await new Promise<void>((resume) => waiting.push(resume));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
