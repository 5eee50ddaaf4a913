/**
 * Limits how many results one process fetches at a time: each has some 20 MB of its file in memory on the way to a bucket. After a
 * stop of the gateway all results that vendors have made meanwhile are due at once. docs/tasks.md.
 */
import { createSlotLimiter, type SlotUser } from "./slot-limiter.ts";

export interface Fetching {
  /** Runs `work` once there is a slot for it. One workspace gets at most half of the slots. */
  withSlot<Result>(of: SlotUser, work: () => Promise<Result>): Promise<Result>;
  /** Within `withSlot`: others may use the slot while `pause` lasts, which needs no memory for a file. */
  pauseSlot(of: SlotUser, pause: () => Promise<void>): Promise<void>;
}

interface Waiting {
  readonly of: SlotUser;
  resume(): void;
}

/** Slots for results in one process. */
export const fetchesMax = 32;

/** Creates the limiter, with all slots free. */
export function createFetching(total = fetchesMax): Fetching {
  const slots = createSlotLimiter({ total });
  // At most as many as there are steps in flight.
  const waiting = new Set<Waiting>();

  function next(): void {
    for (const one of waiting) {
      if (!slots.hasRoom()) return;
      if (!slots.take(one.of)) continue;
      waiting.delete(one);
      one.resume();
    }
  }

  const waitForSlot = (of: SlotUser): Promise<void> =>
    new Promise((resume) => waiting.add({ of, resume }));

  function release(of: SlotUser): void {
    slots.release(of);
    next();
  }

  return {
    async withSlot(of, work) {
      if (!slots.take(of)) await waitForSlot(of);
      try {
        return await work();
      } finally {
        release(of);
      }
    },
    async pauseSlot(of, pause) {
      release(of);
      await pause();
      if (!slots.take(of)) await waitForSlot(of);
    },
  };
}
