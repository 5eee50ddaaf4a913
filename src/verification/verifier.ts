/**
 * Runs `verify` within a running gateway: one run at a time in the whole installation. The result is stored in the database. A database
 * lock marks a running run, so a run whose gateway died is seen to have ended.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../base/log.ts";
import type { Database, Queryable } from "../storage/index.ts";
import type { Difference } from "./difference.ts";
import { allDifferencesIn } from "./verify.ts";

/** The run in progress, or the last one. */
export interface Verification {
  /** interrupted: its gateway stopped or died before the end. */
  readonly state: "running" | "done" | "failed" | "interrupted";
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
  /** Number of entries checked so far. */
  readonly entries: number;
  /** The first differences of the run; `differencesCount` counts all. */
  readonly differences: readonly Difference[];
  readonly differencesCount: number;
}

export interface Verifier {
  /** Starts a run, unless one is in progress on any gateway. Resolves when this is known. @returns whether a new run started */
  start(): Promise<boolean>;
  /** The run in progress, or the last one; undefined before the first. */
  read(): Promise<Verification | undefined>;
  /** Ends the run of this process, if any. */
  close(): Promise<void>;
}

/** An arbitrary number that nothing else locks in this database. It fits 32 bits, because `pg_locks` shows it in that form. */
const lockKey = 1_866_402_117;
const differencesKept = 200;
/** Rows per fetch. Batches are read between calls, and must not delay them. */
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

/** While the lock is held, no other run can start. The result is shown once the lock is free. */
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

/** Creates the verifier of this process. */
export function createVerifier(database: Database, log: Pick<Log, "warn">): Verifier {
  return new ProcessVerifier(database, log);
}

class ProcessVerifier implements Verifier {
  readonly #database: Database;
  readonly #log: Pick<Log, "warn">;
  #underWay: Promise<void> | undefined;
  /** Process id of the database backend that serves the run. */
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
      // If the run fails before it began, the caller gets the error. Later failures are stored in the row.
      .catch((error: unknown) => begun.reject(error))
      .finally(() => {
        this.#underWay = undefined;
        this.#pid = undefined;
        // The run did not begin. Resolve after the reset above, so that the caller can start another one at once.
        begun.resolve(false);
      });
    return begun.promise;
  }

  async read(): Promise<Verification | undefined> {
    const look = async () => (await this.#database.query<Row>(readSql, []))[0];
    const row = await look();
    // The query reads the row before the lock, and a run may have ended in between. Then read again.
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

  /** Runs unless another process holds the lock; calls `began` once it holds the lock. */
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
        // A statement that fails ends the savepoint only, so that the lock is held until the failure is stored.
        await tx.query("savepoint locked");
        await this.#database.query(beginSql, []);
        began();
        await this.#verify(tx);
      },
      { isolation: "repeatable read", readOnly: true, msMax: runMsMax },
    );
  }

  /** Verifies under the lock and stores the result. */
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
      // A stopped run stores no result. Readers see that its lock is free.
      if (this.#closed) throw error;
      this.#log.warn({ err: error }, "the ledger could not be verified");
      await end("failed", []).catch(() => undefined);
      throw error;
    }
  }
}
