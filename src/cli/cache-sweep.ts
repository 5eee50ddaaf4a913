/** The rounds that delete answers of response caches whose time is over. docs/cache.md. */
import type { Log } from "../base/log.ts";
import { sweepAnswers, type Database } from "../storage/index.ts";
import { startRounds } from "./rounds.ts";

/** Batches of one round: what is left is the next round's. */
const batchesMax = 20;

/** Starts the rounds; the returned function ends them, after the batch under way. */
export const startCacheSweep = (
  database: Database,
  log: Log,
  sweeps: () => boolean,
): (() => Promise<void>) =>
  startRounds({
    everyMs: 60_000,
    sweeps,
    log,
    failure: "old answers could not be deleted; trying again later",
    async round(goesOn) {
      for (let batch = 0; goesOn() && batch < batchesMax; batch += 1)
        if ((await sweepAnswers(database)) === 0) break;
    },
  });
