/** The rounds that keep the tables in bounds: parts of the request log are made ahead, and what is over its time goes. */
import type { Log } from "../base/log.ts";
import { keepParts, retentionStep, type Retention } from "../retention/index.ts";
import { isTransient, type Database } from "../storage/index.ts";
import { startRounds } from "./rounds.ts";

const everyMsDefault = 60_000;

interface RetentionSweep {
  readonly database: Database;
  readonly log: Log;
  /** Whether this process is the one of its gateway that sweeps; of several gateways the database lets one work at a time. */
  readonly sweeps: () => boolean;
  readonly retention: Retention;
  /** A minute if absent; 0: never. */
  readonly everyMs?: number | undefined;
}

/** Starts the rounds, one at a time; the returned function ends them, after the step under way. */
export function startRetentionSweep({
  database,
  log,
  sweeps,
  retention,
  everyMs = everyMsDefault,
}: RetentionSweep): () => Promise<void> {
  return startRounds({
    everyMs,
    atOnce: true,
    sweeps,
    log,
    failure: "the tables could not be kept in bounds; trying again later",
    async round(goesOn) {
      try {
        await keepParts(database, { days: retention.requestLogDays, goesOn });
        // One after the other, each a transaction of its own: others come in between.
        while (goesOn() && (await retentionStep(database, retention)) > 0);
      } catch (error) {
        if (!isTransient(error)) throw error;
        // A reader of the whole table, such as a backup, keeps parts in their place for a while.
        log.debug({ err: error }, "the tables are kept in bounds later");
      }
    },
  });
}
