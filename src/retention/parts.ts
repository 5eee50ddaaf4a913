/** Creates the parts of the request log ahead of time (storage/baseline/10_request_parts.sql). */
import { dayMs } from "../base/durations.ts";
import type { Database, Queryable } from "../storage/index.ts";

/** Lets only one process at a time change parts and delete rows. Any number that nothing else in the database locks. */
const lockKey = 7_409_318_200_449n;
/** Parts are made this many days before their first row: longer than a backup locks the table. */
const aheadDays = 4;
/**
 * Retention in days up to which each day has a part: more parts would slow query plans. Beyond it a part is a month, deleted row by row.
 */
const byDayMax = 92;
/** Rows of the old table that move in one step. */
const moveMax = 5_000;

/** The longest that a change of parts waits for readers, because all later statements wait behind it. */
const lockWait = "set local lock_timeout = '100ms'";

/** Runs `work` in a transaction under the lock; returns undefined if another process has the lock. */
export function underLock<T>(
  database: Database,
  work: (tx: Queryable) => Promise<T>,
  msMax?: number,
): Promise<T | undefined> {
  return database.transaction(
    async (tx) => {
      await tx.query(lockWait);
      const [lock] = await tx.query<{ mine: boolean }>(
        "select pg_try_advisory_xact_lock($1) as mine",
        [lockKey],
      );
      return lock?.mine === true ? await work(tx) : undefined;
    },
    msMax === undefined ? {} : { msMax },
  );
}

/** True if the old table has not become a part yet. */
async function isDetached(tx: Queryable): Promise<boolean> {
  const [row] = await tx.query<{ apart: boolean }>(
    "select exists (select from pg_class where oid = to_regclass('requests_before') and not relispartition) as apart",
    [],
  );
  return row?.apart === true;
}

/** Runs one step of making the old table a part; returns false when there is nothing left to do. */
async function attachStep(tx: Queryable): Promise<boolean> {
  if (!(await isDetached(tx))) return false;
  // The database reads the whole table once, while calls go on.
  await tx.query("set local statement_timeout = 0");
  const [row] = await tx.query<{ more: boolean }>("select request_parts_attach($1) as more", [
    moveMax,
  ]);
  return row?.more === true;
}

export interface PartsOptions {
  /** Days that rows are kept; undefined: for ever. */
  readonly days: number | undefined;
  /** Returns false once the work must stop. */
  readonly shouldContinue?: () => boolean;
}

/**
 * Creates the parts of the coming days, and makes a log that was one large table a part.
 * @returns how many parts were made
 */
export async function keepParts(
  database: Database,
  { days, shouldContinue = () => true }: PartsOptions,
): Promise<number> {
  const byMonth = days === undefined || days > byDayMax;
  const made = await underLock(database, async (tx) => {
    const [row] = await tx.query<{ made: number }>(
      "select request_parts_ahead((now() at time zone 'UTC')::date, $1, $2) as made",
      [aheadDays, byMonth],
    );
    return row?.made ?? 0;
  });
  while (shouldContinue() && (await underLock(database, attachStep, dayMs)) === true);
  return made ?? 0;
}
