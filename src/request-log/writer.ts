/**
 * Writes the request log: takes rows off the caller's path and inserts them in batches. docs/management.md.
 * The log explains, and money does not depend on it: a row that cannot be written is counted and logged, never thrown.
 * Memory stays bounded when the database is slow (T85, T87).
 */
import type { Log } from "../base/log.ts";
import { retry } from "../base/retry.ts";
import { createWriteBehind, roomFor, type WriteBehind } from "../base/write-behind.ts";
import { isTransient, type Database } from "../storage/index.ts";
import { createRowMaker, type Queued } from "./heads.ts";
import { createInserter, type Insert } from "./insert.ts";
import type { RequestRow } from "./row.ts";

const batchMax = 500;
const queueMax = 20_000;
/** How long rows wait for a database that is away: as long as charges do. While the gateway stops, less. */
const awayMsMax = 30_000;
const awayMsMaxAtEnd = 1_500;
const gatherMsDefault = 40;

/** Takes rows; counts and logs those that a full queue drops, or that cannot be written. */
export interface RequestLog extends WriteBehind<RequestRow> {
  /** The number of rows that were lost since the start. */
  readonly lost: number;
  /** As `flush`, while the gateway stops: rows wait less for a database that is away. May be called twice. */
  close(): Promise<void>;
}

interface Writing {
  readonly insert: Insert;
  /** Called with the number of rows that cannot be written. */
  readonly lose: (rows: number, error: unknown) => void;
  /** When the gateway began to stop, by `performance.now()`; undefined while it runs. */
  readonly endingSince: () => number | undefined;
}

/** Writes a batch: retries while the database is away, or splits it in halves, so that one bad row costs only itself. */
async function write(writing: Writing, rows: readonly Queued[]): Promise<void> {
  const { insert, lose, endingSince } = writing;
  const beganMs = performance.now();
  const mayPass = (error: unknown): boolean => {
    const endMs = Math.max(beganMs, endingSince() ?? Infinity) + awayMsMaxAtEnd;
    return isTransient(error) && performance.now() < endMs;
  };
  try {
    await retry({ forMs: awayMsMax, mayPass }, (attempt) => insert(rows, attempt > 1));
  } catch (error) {
    if (rows.length === 1 || isTransient(error)) return lose(rows.length, error);
    const half = rows.length >> 1;
    await write(writing, rows.slice(0, half));
    await write(writing, rows.slice(half));
  }
}

/** Creates a writer over `database`; call `close` before you close that. Rows wait for others for `gatherMs`, 40 ms if absent. */
export function createRequestLog(
  database: Database,
  log: Log,
  gatherMs = gatherMsDefault,
): RequestLog {
  const queuedOf = createRowMaker();
  const insert = createInserter(database);
  let lost = 0;
  let endingMs: number | undefined;
  const lose = (rows: number, error: unknown): void => {
    lost += rows;
    log.error({ err: error, rows }, "request log rows could not be written");
  };
  // Queued rows are texts and numbers: their owner cannot change them any more, and their size is known.
  // Rows are gathered for a while: each transaction costs the database a disk write, and no caller waits for these rows.
  const queue = createWriteBehind<Queued>({
    write: (rows) => write({ insert, lose, endingSince: () => endingMs }, rows),
    batchMax,
    gatherMs,
    room: roomFor(queueMax),
    sizeOf: () => 1,
    dropped(rows) {
      lost += rows;
      log.warn({ rows }, "request log rows were dropped: the queue was full");
    },
  });
  return {
    get lost() {
      return lost;
    },
    add(row) {
      try {
        if (/[\n\0]/.test(row.id)) throw new Error("an id has no line ends");
        queue.add(queuedOf(row));
      } catch (error) {
        lost += 1;
        log.error({ err: error, id: row.id }, "a request log row cannot be written");
      }
    },
    // Readers of the log call it too, so it must not give up rows any sooner.
    flush: () => queue.flush(),
    close() {
      endingMs = performance.now();
      return queue.flush();
    },
  };
}
