/** The rounds that delete kept bodies whose time is over. docs/management.md. */
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { sweepBodies, type Database } from "../storage/index.ts";

const everyMs = 60_000;
/** Batches of one round: what is left is the next round's. */
const batchesMax = 20;

interface BodySweep {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether this process is the one of its gateway that sweeps. */
  readonly sweeps: () => boolean;
}

/** Starts the rounds, one at a time; the returned function ends them, after the batch under way. */
export function startBodySweep({ database, clock, log, sweeps }: BodySweep): () => Promise<void> {
  let underWay: Promise<void> | undefined;
  let open = true;
  const goesOn = (): boolean => open;
  const round = async (): Promise<void> => {
    try {
      for (let batch = 0; goesOn() && batch < batchesMax; batch += 1)
        if ((await sweepBodies(database, clock.now())) === 0) break;
    } catch (error) {
      log.warn({ err: error }, "old bodies could not be deleted; trying again later");
    }
    underWay = undefined;
  };
  const timer = setInterval(() => {
    if (sweeps()) underWay ??= round();
  }, everyMs);
  return async () => {
    open = false;
    clearInterval(timer);
    await underWay;
  };
}
