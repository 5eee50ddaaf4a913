/** The rounds that delete kept bodies whose time is over. docs/management.md. */
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { sweepBodies, type Database } from "../storage/index.ts";
import { startRounds } from "./rounds.ts";

/** Batches of one round: what is left is the next round's. */
const batchesMax = 20;

interface BodySweep {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether this process is the one of its gateway that sweeps. */
  readonly sweeps: () => boolean;
}

/** Starts the rounds; the returned function ends them, after the batch under way. */
export const startBodySweep = ({
  database,
  clock,
  log,
  sweeps,
}: BodySweep): (() => Promise<void>) =>
  startRounds({
    everyMs: 60_000,
    sweeps,
    log,
    failure: "old bodies could not be deleted; trying again later",
    async round(goesOn) {
      for (let batch = 0; goesOn() && batch < batchesMax; batch += 1)
        if ((await sweepBodies(database, clock.now())) === 0) break;
    },
  });
