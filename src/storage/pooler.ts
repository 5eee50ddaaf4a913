/**
 * Detects poolers in transaction mode (PgBouncer and similar services). They run each transaction on any free session of the server, so
 * that prepared statements, `LISTEN` and session locks belong to other connections: some calls work, and others fail.
 */
import { Client, type ClientBase } from "pg";
import { keepAliveInitialDelayMillis } from "./pool.ts";

const answerMsMax = 3_000;
/** Another connection may have taken the session in between. */
const roundsMax = 2;

async function sessionOf(client: ClientBase): Promise<number> {
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  return rows[0]!.pid;
}

/**
 * True if the connected `client` shares its server session with others. A pooler gives a new connection the session used last, which
 * another connection then also has; or it rotates sessions, and the client's session changes. False if no second connection can be made.
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
  // The connection may end at any time; that decides nothing.
  other.on("error", () => undefined);
  const others: number[] = [];
  try {
    await other.connect();
    for (let round = 0; round < roundsMax; round += 1) {
      others.push(await sessionOf(other));
      own.push(await sessionOf(client));
    }
  } catch {
    // Decide by the sessions seen so far.
  } finally {
    await other.end().catch(() => undefined);
  }
  return new Set(own).size > 1 || others.some((pid) => own.includes(pid));
}
