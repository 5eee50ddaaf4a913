/**
 * The database: what the rest of the gateway sees of PostgreSQL, its own server or another. docs/architecture.md.
 */
import type pg from "pg";
import type { Queryable } from "./queryable.ts";
import type { Signals } from "./signals.ts";
import { isReadOnly } from "./transient.ts";

/** How a transaction runs where the default (read committed, read and write) is not wanted. */
export interface TransactionOptions {
  readonly isolation?: "read committed" | "repeatable read";
  readonly readOnly?: boolean;
  /** How long it may take; 60 seconds when absent. Then its connection is cut. */
  readonly msMax?: number;
}

export interface Database extends Queryable {
  /** Runs `work` in one transaction on one connection; commits when it resolves, rolls back when it throws. */
  transaction<T>(work: (tx: Queryable) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** The driver's own, for a library that brings its statements along. */
  readonly pool: pg.Pool;
  readonly signals: Signals;
  /** Ends the pool, and with the embedded database its server and the hold on the data directory. */
  close(): Promise<void>;
}

/** A transaction that hangs would keep its locks and its connection. */
const transactionMsMax = 60_000;

/** What a database is put together from. */
export interface DatabaseParts {
  readonly pool: pg.Pool;
  readonly signals: (database: Queryable) => Signals;
  closeRest(): Promise<void>;
}

async function run<Row extends object>(
  target: pg.Pool | pg.ClientBase,
  sql: string,
  params: readonly unknown[] | undefined,
  name: string | undefined,
): Promise<Row[]> {
  if (params === undefined) {
    const result = await target.query<Row>(sql);
    // Several statements in one text give several results.
    const last: pg.QueryResult<Row> | undefined = Array.isArray(result) ? result.at(-1) : result;
    return last?.rows ?? [];
  }
  const values = params as unknown[];
  const result = await target.query<Row>(
    name === undefined ? { text: sql, values } : { name, text: sql, values },
  );
  return result.rows;
}

/** Statements on one connection. */
export const clientQueries = (client: pg.ClientBase): Queryable => ({
  query: (sql, params, options) => run(client, sql, params, options?.name),
});

function begin(options: TransactionOptions): string {
  const isolation = options.isolation ?? "read committed";
  return `begin isolation level ${isolation}${options.readOnly === true ? " read only" : ""}`;
}

/** Puts a {@link Database} together from its parts. */
export function createDatabase(parts: DatabaseParts): Database {
  const { pool } = parts;

  const query: Queryable["query"] = (sql, params, options) => run(pool, sql, params, options?.name);

  async function transaction<T>(
    work: (tx: Queryable) => Promise<T>,
    options: TransactionOptions = {},
  ): Promise<T> {
    const client = await pool.connect();
    let broken = false;
    const watch = setTimeout(() => {
      broken = true;
      void client.end().catch(() => undefined);
    }, options.msMax ?? transactionMsMax);
    try {
      await client.query(begin(options));
      const value = await work(clientQueries(client));
      const end = await client.query("commit");
      // COMMIT of a transaction in which a statement failed answers ROLLBACK, without an error.
      if (end.command !== "COMMIT") throw new Error("the transaction was rolled back");
      return value;
    } catch (error) {
      await client.query("rollback").catch(() => (broken = true));
      // Kept, it would lead to the old server for ever after a failover by name.
      broken ||= isReadOnly(error);
      throw error;
    } finally {
      clearTimeout(watch);
      client.release(broken);
    }
  }

  let closed: Promise<void> | undefined;
  const signals = parts.signals({ query });
  return {
    query,
    transaction,
    pool,
    signals,
    close: () =>
      (closed ??= (async () => {
        await signals.close();
        await pool.end();
        await parts.closeRest();
      })()),
  };
}
