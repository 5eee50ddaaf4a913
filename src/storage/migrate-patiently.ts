/**
 * Changes of the schema while calls go on: who waits for a table's lock lets nobody else use the table meanwhile. So each try waits for a
 * moment only, and between tries calls go on. A report that runs for an hour then delays the new version, and no call. CONTRIBUTING.md.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { atIntervals } from "../base/at-intervals.ts";
import type { Log } from "../base/log.ts";
import type { Queryable } from "./queryable.ts";
import { codeOf, isLockTimeout } from "./transient.ts";

/** Longer than a second, after which the server stops its own vacuum for us; shorter than a call waits for the database. */
const lockWait = "2s";
/** Each is up to half as long again, so that gateways which start together do not try together. */
const pausesMs = [2_000, 4_000, 8_000, 15_000];
const triesForMs = 600_000;
const sayEveryMs = 60_000;

/** For the rest of the transaction. */
export const limitLockWaits = (tx: Queryable): Promise<unknown> =>
  tx.query(`set local lock_timeout = '${lockWait}'`);

/** A table was in use, or calls and the change waited for each other. */
const isLocked = (error: unknown): boolean => isLockTimeout(error) || codeOf(error) === "40P01";

/** The transaction that has been open for longest. */
interface Oldest {
  readonly pid: number;
  readonly application: string;
  readonly seconds: number;
}

const oldestSql = `select pid, application_name as application, extract(epoch from now() - xact_start)::int as seconds
  from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
  order by xact_start limit 1`;

/** Repeats a change of the schema while tables are locked. @throws what it throws, at last */
export async function patiently<Result>(
  database: Queryable,
  log: Pick<Log, "warn"> | undefined,
  change: () => Promise<Result>,
): Promise<Result> {
  const beganMs = performance.now();
  const waits = atIntervals(sayEveryMs);
  for (let tries = 0; ; tries += 1) {
    try {
      return await change();
    } catch (error) {
      if (!isLocked(error) || performance.now() - beganMs > triesForMs) throw error;
      if (waits() !== undefined)
        log?.warn(await blocked(database), "the schema cannot be changed yet: a table is in use");
      const pauseMs = pausesMs[Math.min(tries, pausesMs.length - 1)]!;
      await sleep(pauseMs * (1 + Math.random() / 2));
    }
  }
}

/** Who may be in the way, and what helps. */
async function blocked(database: Queryable): Promise<object> {
  const [oldest] = await database.query<Oldest & Record<string, unknown>>(oldestSql);
  if (oldest === undefined) return { fix: "wait: it is tried again" };
  const { pid, application, seconds } = oldest;
  const fix = `wait, it is tried again; or end what holds the table, if nobody needs it: select pg_terminate_backend(${pid})`;
  return { oldest_transaction: { pid, application, seconds }, fix };
}
