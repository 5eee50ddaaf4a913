/**
 * `verify` within a running gateway: one run at a time in the whole installation, whose result stays in the database. A lock of
 * the database stands for the run, so that one whose gateway died is known to have ended.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../base/log.ts";
import type { Database, Queryable } from "../storage/index.ts";
import type { Difference } from "./difference.ts";
import { allDifferencesIn } from "./verify.ts";

/** A run, under way or the last one. */
export interface Verification {
  /** interrupted: its gateway stopped or died before the end. */
  readonly state: "running" | "done" | "failed" | "interrupted";
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
  /** Entries that were looked at so far. */
  readonly entries: number;
  /** The first of them. */
  readonly differences: readonly Difference[];
  readonly differencesCount: number;
}

export interface Verifier {
  /** Begins a run, unless one is under way anywhere; resolves when it is known to be. @returns whether it is a new one */
  start(): Promise<boolean>;
  /** The run under way, or the last one; undefined before the first. */
  read(): Promise<Verification | undefined>;
  /** Ends a run of this process. */
  close(): Promise<void>;
}

/** Any number that nothing else in the database locks; it fits 32 bits, as `pg_locks` shows it. */
const lockKey = 1_866_402_117;
const differencesKept = 200;
/** A piece is read between calls: it must not hold them up. */
const rowsAtOnce = 1_000;
const runMsMax = 6 * 3_600_000;
const cancelMs = 100;

interface Row {
  readonly state: "running" | "done" | "failed";
  readonly started_at: Date;
  readonly finished_at: Date | null;
  readonly entries: bigint;
  readonly differences: readonly StoredDifference[];
  readonly differences_count: number;
  readonly held: boolean;
}

interface StoredDifference {
  readonly workspaceId: string;
  readonly what: string;
  readonly recorded: string;
  readonly computed: string;
}

const beginSql = `
  insert into verification (state, started_at, entries, differences, differences_count) values ('running', now(), 0, '[]', 0)
  on conflict (only_row) do update set state = 'running', started_at = now(), finished_at = null, entries = 0,
    differences = '[]', differences_count = 0`;
const endSql = `update verification set state = $1, finished_at = now(), entries = $2, differences = $3, differences_count = $4`;
const readSql = `
  select v.*, exists (select from pg_locks l where l.locktype = 'advisory' and l.granted and l.classid = 0
    and l.objid = ${lockKey} and l.objsubid = 1
    and l.database = (select oid from pg_database where datname = current_database())) as held
  from verification v`;

const stored = (found: readonly Difference[]): string =>
  JSON.stringify(
    found.slice(0, differencesKept).map(({ workspaceId, what, recordedNano, computedNano }) => ({
      workspaceId,
      what,
      recorded: String(recordedNano),
      computed: String(computedNano),
    })),
  );

/** While the lock is held, no other run can begin: its result is shown once it is free. */
const stateOf = ({ state, held }: Row): Verification["state"] =>
  held ? "running" : state === "running" ? "interrupted" : state;

function verificationOf(row: Row): Verification {
  return {
    state: stateOf(row),
    startedAt: row.started_at,
    finishedAt: row.held ? null : row.finished_at,
    entries: Number(row.entries),
    differences: row.differences.map(({ workspaceId, what, recorded, computed }) => ({
      workspaceId,
      what,
      recordedNano: BigInt(recorded),
      computedNano: BigInt(computed),
    })),
    differencesCount: row.differences_count,
  };
}

/** A verifier of one process. */
export function createVerifier(database: Database, log: Pick<Log, "warn">): Verifier {
  return new ProcessVerifier(database, log);
}

class ProcessVerifier implements Verifier {
  readonly #database: Database;
  readonly #log: Pick<Log, "warn">;
  #underWay: Promise<void> | undefined;
  /** The database's process that works for the run. */
  #pid: number | undefined;
  #closed = false;

  constructor(database: Database, log: Pick<Log, "warn">) {
    this.#database = database;
    this.#log = log;
  }

  start(): Promise<boolean> {
    if (this.#underWay !== undefined || this.#closed) return Promise.resolve(false);
    const begun = Promise.withResolvers<boolean>();
    this.#underWay = this.#run(() => begun.resolve(true))
      // Before it began the caller learns of it; after that the row says so.
      .catch((error: unknown) => begun.reject(error))
      .finally(() => {
        this.#underWay = undefined;
        this.#pid = undefined;
        // One that did not begin: the next one may be asked for as soon as that is known.
        begun.resolve(false);
      });
    return begun.promise;
  }

  async read(): Promise<Verification | undefined> {
    const look = async () => (await this.#database.query<Row>(readSql, []))[0];
    const row = await look();
    // Its lock is looked at after the row was read: a run may have ended in between.
    const settled = row?.state === "running" && !row.held ? await look() : row;
    return settled && verificationOf(settled);
  }

  async close(): Promise<void> {
    this.#closed = true;
    while (this.#underWay !== undefined) {
      if (this.#pid !== undefined)
        await this.#database
          .query("select pg_cancel_backend($1::integer)", [this.#pid])
          .catch(() => []);
      await Promise.race([this.#underWay, sleep(cancelMs)]);
    }
  }

  /** Runs, unless another process does; `began` is called when it does. */
  #run(began: () => void): Promise<void> {
    return this.#database.transaction(
      async (tx) => {
        await tx.query(
          "set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0; set local cursor_tuple_fraction = 0.001",
        );
        const [row] = await tx.query<{ mine: boolean; pid: number }>(
          "select pg_try_advisory_xact_lock($1::bigint) as mine, pg_backend_pid() as pid",
          [lockKey],
        );
        if (row?.mine !== true) return;
        this.#pid = row.pid;
        await this.#database.query(beginSql, []);
        began();
        await this.#verify(tx);
      },
      { isolation: "repeatable read", readOnly: true, msMax: runMsMax },
    );
  }

  /** Under the lock: up to the row with the result. */
  async #verify(tx: Queryable): Promise<void> {
    let entries = 0;
    const progress = (done: number): void => {
      entries = done;
      if (this.#closed) throw new Error("the gateway stops");
    };
    const end = (state: "done" | "failed", found: readonly Difference[]) =>
      this.#database.query(endSql, [state, entries, stored(found), found.length]);
    try {
      await end("done", await allDifferencesIn(tx, progress, rowsAtOnce));
    } catch (error) {
      // A run that is stopped has no result: whoever reads sees that nobody holds its lock.
      if (this.#closed) throw error;
      this.#log.warn({ err: error }, "the ledger could not be verified");
      await end("failed", []).catch(() => undefined);
      throw error;
    }
  }
}
