/** The rounds that remove files whose time is over. Rows STORE-02, STORE-05. */
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { sweepFiles, type Database, type FileStore } from "../storage/index.ts";

const everyMs = 5_000;

interface FileSweep {
  readonly database: Database;
  readonly files: FileStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether this process is the one of its gateway that sweeps. */
  readonly sweeps: () => boolean;
}

/** Starts the rounds, one at a time; the returned function ends them, after the one under way. */
export function startFileSweep({
  database,
  files,
  clock,
  log,
  sweeps,
}: FileSweep): () => Promise<void> {
  let underWay: Promise<void> | undefined;
  const round = async (): Promise<void> => {
    try {
      const { removed, failed } = await sweepFiles(database, files, new Date(clock.now()));
      if (removed > 0) log.info({ removed }, "removed files that had expired");
      if (failed > 0) log.warn({ failed }, "could not remove expired files; trying again later");
    } catch (error) {
      log.warn({ err: error }, "the sweep of files failed");
    }
    underWay = undefined;
  };
  const begin = (): void => {
    if (sweeps()) underWay ??= round();
  };
  begin();
  const timer = setInterval(begin, everyMs);
  return async () => {
    clearInterval(timer);
    await underWay;
  };
}
