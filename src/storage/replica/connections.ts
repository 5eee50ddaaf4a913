/** Connections to a replica: few, for reading only, and cut at once where it does not answer. */
import { Socket } from "node:net";
import type pg from "pg";
import type { Log } from "../../base/log.ts";
import { clientQueries } from "../database.ts";
import { setting } from "../limits.ts";
import { createPool } from "../pool.ts";
import type { Queryable } from "../queryable.ts";

/** Reads at once. Others wait. */
export const readsMax = 3;
/** One more, for looking how it is doing. */
const connectionsMax = readsMax + 1;

const connectMsMax = 2_000;
/** What takes longer there is asked of the primary. */
const statementMsMax = 10_000;
/** Behind a name there may be several replicas. */
const lifeSeconds = 300;
const closeMsMax = 1_000;

export interface Connections {
  /** Runs `work` over one connection, one statement after the other. */
  use<T>(work: (replica: Queryable) => Promise<T>): Promise<T>;
  /** Breaks all of them, so that nothing waits for an answer. */
  cut(): void;
  close(): Promise<void>;
}

export function openConnections(url: string, log: Pick<Log, "debug" | "warn">): Connections {
  const sockets = new Set<Socket>();
  const stream = (): Socket => {
    const socket = new Socket();
    sockets.add(socket);
    return socket.once("close", () => sockets.delete(socket));
  };
  const pool = createPool(
    {
      connectionString: url,
      stream,
      max: connectionsMax,
      onConnect: setting({
        default_transaction_read_only: "on",
        statement_timeout: statementMsMax,
      }),
      connectionTimeoutMillis: connectMsMax,
      maxLifetimeSeconds: lifeSeconds,
      application_name: "tollgate reads",
    },
    // Whoever looks at the replica says once that it is away.
    { warn: (fields, message) => log.debug(fields, message) },
  );
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    async use(work) {
      const client = await pool.connect();
      try {
        const value = await work(inOrder(client));
        client.release();
        return value;
      } catch (error) {
        // Whatever state it is in: another one costs little.
        client.release(true);
        throw error;
      }
    },
    cut,
    async close() {
      // A server that was stopped never ends its side.
      const late = setTimeout(cut, closeMsMax);
      await pool.end();
      clearTimeout(late);
    },
  };
}

/** One connection has one statement at a time, where a pool has as many as it has connections. */
function inOrder(client: pg.ClientBase): Queryable {
  const one = clientQueries(client);
  let before: Promise<unknown> = Promise.resolve();
  return {
    query<Row extends object>(...statement: Parameters<Queryable["query"]>) {
      const rows = before.then(() => one.query<Row>(...statement));
      before = rows.catch(() => undefined);
      return rows;
    },
  };
}
