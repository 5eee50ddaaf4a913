/** Connections to a replica: few, read-only, and cut if it does not answer. */
import { Socket } from "node:net";
import type pg from "pg";
import type { Log } from "../../base/log.ts";
import { clientQueries } from "../database.ts";
import { setting } from "../limits.ts";
import { createPool } from "../pool.ts";
import type { Queryable } from "../queryable.ts";

/** The most concurrent reads; others wait. */
export const readsMax = 3;
/** One more, for checks of the replica. */
const connectionsMax = readsMax + 1;

const connectMsMax = 2_000;
/** Slower statements are canceled there, and the primary answers. */
const statementMsMax = 10_000;
/** Connections are renewed, because one host name may have several replicas. */
const lifeSeconds = 300;
const closeMsMax = 1_000;

export interface Connections {
  /** Runs `work` on one connection, one statement after another. */
  use<T>(work: (replica: Queryable) => Promise<T>): Promise<T>;
  /** Breaks all connections, so that nothing waits for an answer. */
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
    // Only debug: the watch of the replica logs once that it is away.
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
        // Its state is unknown, and a new connection costs little.
        client.release(true);
        throw error;
      }
    },
    cut,
    async close() {
      // A stopped server never closes its side.
      const late = setTimeout(cut, closeMsMax);
      await pool.end();
      clearTimeout(late);
    },
  };
}

/** Queues statements: a single connection runs one at a time, unlike a pool. */
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
