/** The rounds that remove files whose time is over. Rows STORE-02, STORE-05. */
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { sweepFiles, type Database, type FileStore } from "../storage/index.ts";
import { startRounds } from "./rounds.ts";

interface FileSweep {
  readonly database: Database;
  readonly files: FileStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether this process is the one of its gateway that sweeps. */
  readonly sweeps: () => boolean;
}

/** Starts the rounds; the returned function ends them, after the one under way. */
export const startFileSweep = (sweep: FileSweep): (() => Promise<void>) => {
  const { database, files, clock, log, sweeps } = sweep;
  return startRounds({
    everyMs: 5_000,
    atOnce: true,
    sweeps,
    log,
    failure: "the sweep of files failed",
    async round() {
      const { removed, failed } = await sweepFiles(database, files, new Date(clock.now()));
      if (removed > 0) log.info({ removed }, "removed files that had expired");
      if (failed > 0) log.warn({ failed }, "could not remove expired files; trying again later");
    },
  });
};
