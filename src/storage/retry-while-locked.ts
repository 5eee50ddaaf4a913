/**
 * Schema changes while calls run. A change that waits for a table's lock blocks all others from the table. So each try waits only briefly,
 * and calls run between tries. A report that runs for an hour then delays the new version, but no call. CONTRIBUTING.md.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { throttleCounter } from "../base/throttle-counter.ts";
import type { Log } from "../base/log.ts";
import type { Queryable } from "./queryable.ts";
import { codeOf, isLockTimeout } from "./transient.ts";

/** Longer than one second, after which the server cancels its own vacuum; shorter than a call waits for the database. */
const lockWait = "2s";
/** The pauses between tries; a random part of up to a half is added, so that gateways which start together do not try together. */
const pausesMs = [2_000, 4_000, 8_000, 15_000];
const triesForMs = 600_000;
const sayEveryMs = 60_000;

/** Limits lock waits for the rest of the transaction. */
export const limitLockWaits = (tx: Queryable): Promise<unknown> =>
  tx.query(`set local lock_timeout = '${lockWait}'`);

/**
 * Tables that calls lock together, in the order in which they do: a submission writes its key, the task, the account, then the hold. The
 * end of a task writes its row, its callback, the account, then the entry.
 */
const lockOrder = [
  "idempotency_keys",
  "tasks",
  "webhook_deliveries",
  "ledger_accounts",
  "ledger_holds",
  "ledger_spend",
  "ledger_entries",
];

const alteredTable = /^alter table (\w+)|^create trigger [^;]*? on (\w+)/gm;

/** Locks those of them that a schema change alters. In the order of its statements, calls and the change would be in a deadlock. */
export async function lockInOrder(tx: Queryable, sql: string): Promise<void> {
  const altered = new Set(
    Array.from(sql.matchAll(alteredTable), ([, table, triggered]) => table ?? triggered),
  );
  for (const name of lockOrder) if (altered.has(name)) await tx.query(`lock table ${name}`);
}

/** True if a table was in use, or calls and the change were in a deadlock. */
const isLocked = (error: unknown): boolean => isLockTimeout(error) || codeOf(error) === "40P01";

/** The longest open transaction. */
interface Oldest {
  readonly pid: number;
  readonly application: string;
  readonly seconds: number;
}

const oldestSql = `select pid, application_name as application, extract(epoch from now() - xact_start)::int as seconds
  from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
  order by xact_start limit 1`;

/** Repeats a schema change while tables are locked. @throws what it throws, at last */
export async function retryWhileLocked<Result>(
  database: Queryable,
  log: Pick<Log, "warn"> | undefined,
  change: () => Promise<Result>,
): Promise<Result> {
  const beganMs = performance.now();
  const waits = throttleCounter(sayEveryMs);
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

/** Returns log fields: the transaction that may hold the lock, and how to fix it. */
async function blocked(database: Queryable): Promise<object> {
  const [oldest] = await database.query<Oldest & Record<string, unknown>>(oldestSql);
  if (oldest === undefined) return { fix: "wait: it is tried again" };
  const { pid, application, seconds } = oldest;
  const fix = `wait, it is tried again; or end what holds the table, if nobody needs it: select pg_terminate_backend(${pid})`;
  return { oldest_transaction: { pid, application, seconds }, fix };
}
