/**
 * Logs that the database cannot be used, with the reason and the fix. Repeats it each minute while it lasts, and logs once when it is
 * over. All users of the database detect this themselves and report their own consequences. docs/database.md "PostgreSQL".
 */
import type { Log } from "../base/log.ts";
import { adviceOn, databaseState, type Database, type DatabaseState } from "../storage/index.ts";

const lookEveryMs = 2_000;
const sayEveryMs = 60_000;
/** Checks that must fail in a row. One failure may be just a broken connection. */
const failuresMin = 2;

const readOnly = {
  reason: "it is read-only",
  fix: "if it is a standby, promote it or name the primary; else see whether its disk is full, and default_transaction_read_only",
};

/** The fix if the gateway runs the server itself. */
const own =
  "it is started again by itself; database/server.log in the data directory says why it went";
/** Codes of errors that a start does not end: the disk is full, or `custom.conf` allows too few connections. */
const notEndedByStart = new Set(["53100", "53300"]);

function adviceOnOwn(error: unknown): ReturnType<typeof adviceOn> {
  const advice = adviceOn(error);
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return notEndedByStart.has(code) ? advice : { ...advice, fix: own };
}

interface DatabaseWatch {
  readonly database: Database;
  readonly log: Pick<Log, "info" | "error">;
  /** True if the gateway runs the server itself. */
  readonly isOwn?: boolean;
  readonly everyMs?: number;
}

/** Starts the checks; the returned function ends them. */
export function watchDatabase(watch: DatabaseWatch): () => void {
  const { database, log, isOwn = false, everyMs = lookEveryMs } = watch;
  let sinceMs: number | undefined;
  let saidMs = -Infinity;
  let failures = 0;
  let isAsking = false;
  let open = true;
  const told = (state: DatabaseState): void => {
    const nowMs = performance.now();
    const seconds = sinceMs === undefined ? 0 : Math.round((nowMs - sinceMs) / 1_000);
    if (state.is === "ok") {
      if (saidMs > -Infinity) log.info({ seconds }, "the database can be used again");
      [sinceMs, saidMs, failures] = [undefined, -Infinity, 0];
      return;
    }
    sinceMs ??= nowMs;
    failures += 1;
    if (failures < failuresMin || nowMs - saidMs < sayEveryMs) return;
    saidMs = nowMs;
    const adviceOf = isOwn ? adviceOnOwn : adviceOn;
    const advice = state.is === "down" ? adviceOf(state.error) : readOnly;
    log.error(
      { ...advice, seconds },
      "the database cannot be used: calls are refused until it can",
    );
  };
  const look = async (): Promise<void> => {
    if (isAsking) return;
    isAsking = true;
    const state = await databaseState(database);
    isAsking = false;
    if (open) told(state);
  };
  const timer = setInterval(() => void look(), everyMs);
  timer.unref();
  return () => {
    open = false;
    clearInterval(timer);
  };
}
