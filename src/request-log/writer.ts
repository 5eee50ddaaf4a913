/**
 * Writes the request log: takes rows off the caller's path and inserts them in batches. docs/management.md.
 * The log explains and money does not depend on it: a row that cannot be written is counted and reported, never thrown.
 * Memory stays bounded when the database is slow (T85, T87).
 */
import type { Log } from "../base/log.ts";
import { createWriteBehind, roomFor, type WriteBehind } from "../base/write-behind.ts";
import { isTransient, type Database } from "../storage/index.ts";
import { createRowMaker, type Queued } from "./heads.ts";
import { createInserter, type Insert } from "./insert.ts";
import type { RequestRow } from "./row.ts";

const batchMax = 500;
const queueMax = 20_000;
const attemptsMax = 3;
const retryMs = 500;
const gatherMsDefault = 40;

/** Takes rows; counts and logs those that a full queue drops. */
export type RequestLog = WriteBehind<RequestRow>;

/** Writes a batch: retries a few times, or splits it in halves, so that one bad row costs only itself. */
async function write(insert: Insert, log: Log, rows: readonly Queued[]): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await insert(rows, attempt > 1);
      return;
    } catch (error) {
      if (attempt < attemptsMax && isTransient(error)) {
        await new Promise((resume) => setTimeout(resume, retryMs * attempt));
      } else if (rows.length > 1 && !isTransient(error)) {
        const half = rows.length >> 1;
        await write(insert, log, rows.slice(0, half));
        await write(insert, log, rows.slice(half));
        return;
      } else {
        log.error({ err: error, rows: rows.length }, "request log rows could not be written");
        return;
      }
    }
  }
}

/** Creates a writer over `database`; call `flush` before you close that. Rows wait for others for `gatherMs`, 40 ms if absent. */
export function createRequestLog(
  database: Database,
  log: Log,
  gatherMs = gatherMsDefault,
): RequestLog {
  const queuedOf = createRowMaker();
  const insert = createInserter(database);
  // Queued rows are texts and numbers: their owner cannot change them any more, and their size is known.
  // Rows are gathered for a while: each transaction costs the database a disk write, and no caller waits for these rows.
  const queue = createWriteBehind<Queued>({
    write: (rows) => write(insert, log, rows),
    batchMax,
    gatherMs,
    room: roomFor(queueMax),
    sizeOf: () => 1,
    dropped: (rows) => log.warn({ rows }, "request log rows were dropped: the queue was full"),
  });
  return {
    add(row) {
      try {
        if (/[\n\0]/.test(row.id)) throw new Error("an id has no line ends");
        queue.add(queuedOf(row));
      } catch (error) {
        log.error({ err: error, id: row.id }, "a request log row cannot be written");
      }
    },
    flush: () => queue.flush(),
  };
}
