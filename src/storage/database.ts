/** The interface of PostgreSQL to the rest of the gateway, for the embedded server or another. docs/architecture.md. */
import type pg from "pg";
import type { Queryable } from "./queryable.ts";
import type { Signals } from "./signals.ts";
import { isOfSession } from "./transient.ts";

/** The mode of a transaction, if not the default (read committed, read and write). */
export interface TransactionOptions {
  readonly isolation?: "repeatable read";
  readonly readOnly?: boolean;
  /** The most milliseconds it may take; 60,000 if absent. After that its connection is cut. */
  readonly msMax?: number;
}

export interface Database extends Queryable {
  /** Runs `work` in one transaction on one connection; commits when it resolves, rolls back when it throws. */
  transaction<T>(work: (tx: Queryable) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** The driver's pool, for libraries that run statements of their own. */
  readonly pool: pg.Pool;
  readonly signals: Signals;
  /** Ends the pool; for the embedded database also its server and the lock on the data directory. */
  close(): Promise<void>;
}

/** Limits a hanging transaction, which keeps its locks and its connection. */
const transactionMsMax = 60_000;

/** The parts of a database. */
export interface DatabaseParts {
  readonly pool: pg.Pool;
  readonly signals: (database: Queryable) => Signals;
  closeRest(): Promise<void>;
}

/** Errors of statements and connections, by which they are told from those of other connections. */
const thrown = new WeakSet<Error>();

/** True if the database or the connection to it failed with this error. */
export const isOfDatabase = (error: Error): boolean => thrown.has(error);

/** Throws the error again. */
function rethrow(error: unknown): never {
  if (error instanceof Error) thrown.add(error);
  throw error;
}

async function run<Row extends object>(
  target: pg.Pool | pg.ClientBase,
  sql: string,
  params: readonly unknown[] | undefined,
  name: string | undefined,
): Promise<Row[]> {
  if (params === undefined) {
    const result = await target.query<Row>(sql).catch(rethrow);
    // A text with several statements gives several results.
    const last: pg.QueryResult<Row> | undefined = Array.isArray(result) ? result.at(-1) : result;
    return last?.rows ?? [];
  }
  const values = params as unknown[];
  const query = name === undefined ? { text: sql, values } : { name, text: sql, values };
  const result = await target.query<Row>(query).catch(rethrow);
  return result.rows;
}

/** Runs statements on one connection. */
export const clientQueries = (client: pg.ClientBase): Queryable => ({
  query: (sql, params, options) => run(client, sql, params, options?.name),
});

function begin(options: TransactionOptions): string {
  const isolation = options.isolation ?? "read committed";
  return `begin isolation level ${isolation}${options.readOnly === true ? " read only" : ""}`;
}

/** Makes a {@link Database} from its parts. */
export function createDatabase(parts: DatabaseParts): Database {
  const { pool } = parts;

  const query: Queryable["query"] = (sql, params, options) => run(pool, sql, params, options?.name);

  async function transaction<T>(
    work: (tx: Queryable) => Promise<T>,
    options: TransactionOptions = {},
  ): Promise<T> {
    const client = await pool.connect().catch(rethrow);
    let broken = false;
    const watch = setTimeout(() => {
      broken = true;
      void client.end().catch(() => undefined);
    }, options.msMax ?? transactionMsMax);
    try {
      await client.query(begin(options)).catch(rethrow);
      const value = await work(clientQueries(client));
      const end = await client.query("commit").catch(rethrow);
      // COMMIT after a failed statement answers ROLLBACK, without an error.
      if (end.command !== "COMMIT") throw new Error("the transaction was rolled back");
      return value;
    } catch (error) {
      await client.query("rollback").catch(() => (broken = true));
      // After a failover by host name, this connection would lead to the old server for ever. Role and search_path stay a session's own too.
      broken ||= isOfSession(error);
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
