/**
 * So many pieces of work at once, the others in their order: for what takes a thread of Node's pool. There are four, which files,
 * names of hosts and compression need too.
 */
import { overloaded } from "./errors.ts";

/** Runs a piece of work in its turn. @throws GatewayError `overloaded` where too many wait; what the work throws */
export type InTurn = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Up to `max` at once, and up to `waitingMax` that wait. */
export function inTurns(max: number, waitingMax = Infinity): InTurn {
  let free = max;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else if (waiting.length >= waitingMax) throw overloaded("Too many wait for this at once.");
    // Whoever ends hands its place on.
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
