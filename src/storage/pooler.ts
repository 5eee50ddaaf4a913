/**
 * Poolers in transaction mode (PgBouncer, and what providers sell of the kind) give each transaction whatever session of the server
 * is free. Prepared statements, `LISTEN` and locks of a session are then somebody else's: some calls work, and others fail.
 */
import { Client, type ClientBase } from "pg";
import { keepAliveInitialDelayMillis } from "./pool.ts";

const answerMsMax = 3_000;
/** Somebody else may have taken the session in between. */
const roundsMax = 2;

async function sessionOf(client: ClientBase): Promise<number> {
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  return rows[0]!.pid;
}

/**
 * Whether `client`, which is connected, shares its session of the server with others. A pooler gives a connection the session that was
 * used last, which another connection then has too; or all sessions in turn, and then its own changes. False where there is no second
 * connection to be had.
 */
export async function sharesSession(client: ClientBase, url: string): Promise<boolean> {
  const own = [await sessionOf(client), await sessionOf(client)];
  const other = new Client({
    connectionString: url,
    keepAlive: true,
    keepAliveInitialDelayMillis,
    connectionTimeoutMillis: answerMsMax,
    query_timeout: answerMsMax,
    application_name: "tollgate start",
  });
  // Its end may come at any time, and decides nothing.
  other.on("error", () => undefined);
  const others: number[] = [];
  try {
    await other.connect();
    for (let round = 0; round < roundsMax; round += 1) {
      others.push(await sessionOf(other));
      own.push(await sessionOf(client));
    }
  } catch {
    // What is known by now counts.
  } finally {
    await other.end().catch(() => undefined);
  }
  return new Set(own).size > 1 || others.some((pid) => own.includes(pid));
}
