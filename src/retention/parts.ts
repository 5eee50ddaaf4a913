/** The parts of the request log, made ahead (storage/baseline/10_request_parts.sql). */
import { dayMs } from "../base/durations.ts";
import type { Database, Queryable } from "../storage/index.ts";

/** One process of all works on the parts, and on what goes, at a time. Any number that nothing else in the database locks. */
const lockKey = 7_409_318_200_449n;
/** Parts are there so long before their first row: longer than a backup holds the table. */
const aheadDays = 4;
/** With a day each, more days would be more parts than a plan should have. Then a part is a month, and goes row by row. */
const byDayMax = 92;
/** Rows of before that move in one step. */
const moveMax = 5_000;

/** Changes of the parts wait so long for those who read, and everybody else waits behind them. */
const lockWait = "set local lock_timeout = '100ms'";

/** Runs `work` in a transaction where no other process does; undefined where one does. */
export function alone<T>(
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

/** Whether the table of before has not yet taken its place. */
async function isApart(tx: Queryable): Promise<boolean> {
  const [row] = await tx.query<{ apart: boolean }>(
    "select exists (select from pg_class where oid = to_regclass('requests_before') and not relispartition) as apart",
    [],
  );
  return row?.apart === true;
}

/** One step of bringing the table of before to its place; false once there is nothing to do. */
async function attachStep(tx: Queryable): Promise<boolean> {
  if (!(await isApart(tx))) return false;
  // It is read whole once, while calls are written and read.
  await tx.query("set local statement_timeout = 0");
  const [row] = await tx.query<{ more: boolean }>("select request_parts_attach($1) as more", [
    moveMax,
  ]);
  return row?.more === true;
}

export interface PartsOptions {
  /** How long rows are kept; undefined: for ever. */
  readonly days: number | undefined;
  /** False once the work is to be given up. */
  readonly goesOn?: () => boolean;
}

/**
 * Makes the parts of the days to come, and brings a large log that was one table to its place.
 * @returns how many parts were made
 */
export async function keepParts(
  database: Database,
  { days, goesOn = () => true }: PartsOptions,
): Promise<number> {
  const byMonth = days === undefined || days > byDayMax;
  const made = await alone(database, async (tx) => {
    const [row] = await tx.query<{ made: number }>(
      "select request_parts_ahead((now() at time zone 'UTC')::date, $1, $2) as made",
      [aheadDays, byMonth],
    );
    return row?.made ?? 0;
  });
  while (goesOn() && (await alone(database, attachStep, dayMs)) === true);
  return made ?? 0;
}
