/**
 * The transport of signals: `notify` sends one, and a dedicated connection listens. The listener reconnects by itself. A ping detects a
 * connection that died without an error. docs/architecture.md.
 */
import { withCachedTlsFiles } from "./cached-tls-files.ts";
import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, type ClientConfig } from "pg";
import type { Log } from "../base/log.ts";
import { keepAliveInitialDelayMillis } from "./pool.ts";
import type { Queryable } from "./queryable.ts";

/** The one PostgreSQL channel in use. */
const wireChannel = "tollgate";

/** Sends a signal; within a transaction it goes out at commit. */
export async function notify(tx: Queryable, channel: string, payload: string): Promise<void> {
  await tx.query("select pg_notify($1, $2)", [wireChannel, `${channel}:${payload}`]);
}

/** Receives the notifications. */
export interface Listener {
  start(receive: (text: string) => void, reconnected: () => void): void;
  healthy(): boolean;
  close(): Promise<void>;
  /** Returns the names of all processes that listen on the database now. */
  listeners(database: Queryable): Promise<readonly string[]>;
  /** The name of this process among them; undefined while it does not listen. */
  name(): string | undefined;
  /** Lets other processes find out whether this one is connected. It stays the same across reconnects. */
  readonly number: number;
  /** Returns those of these numbers that no listening connection holds now. */
  absent(database: Queryable, numbers: readonly number[]): Promise<readonly number[]>;
}

/** The first key of the advisory locks that represent process numbers. A listening connection holds its lock until it ends. */
const numberLocks = 0x746f6c6c;

const retryMsMin = 100;
const retryMsMax = 3_000;
const pingMs = 5_000;
const answerMsMax = 3_000;

/** Identifies the listening connections of all gateways in `pg_stat_activity`. */
const applicationName = "tollgate signals";

interface Listening {
  /** The process id of its server process, by which other gateways know it. */
  readonly pid: string;
  /** Resolves, with the reason, when the connection is lost. */
  readonly lost: Promise<unknown>;
  /** The time (of `performance.now`) from which it gave no answer, if it was lost because of that. */
  silentSinceMs(): number | undefined;
  close(): Promise<void>;
}

/** True for the driver's error when a statement had no answer in time. */
const isSilence = (error: unknown): boolean =>
  error instanceof Error && error.message === "Query read timeout";

/** Opens one listening connection. */
async function listen(
  { server, log }: { readonly server: ClientConfig; readonly log: Log },
  number: number,
  receive: (text: string) => void,
): Promise<Listening> {
  const client = new Client({
    ...withCachedTlsFiles(server, log),
    keepAlive: true,
    keepAliveInitialDelayMillis,
    connectionTimeoutMillis: answerMsMax,
    query_timeout: answerMsMax,
    application_name: applicationName,
  });
  const lost = new Promise<unknown>((resolve) => {
    client.on("error", resolve);
    client.on("end", () => resolve(new Error("the connection ended")));
  });
  client.on("notification", (message) => receive(message.payload ?? ""));
  const close = () => client.end().catch(() => undefined);
  let pid = "";
  try {
    await client.connect();
    const { rows } = await client.query<{ pid: string }>("select pg_backend_pid()::text as pid");
    pid = rows[0]!.pid;
    await client.query(`listen ${wireChannel}`);
    // A shared lock, because the server may not have noticed yet that the previous connection is gone.
    await client.query("select pg_advisory_lock_shared($1, $2)", [numberLocks, number]);
  } catch (error) {
    void close();
    throw error;
  }
  let silentSinceMs: number | undefined;
  const ping = setInterval(() => {
    const askedMs = performance.now();
    client.query("select 1").catch((error: unknown) => {
      if (isSilence(error)) silentSinceMs ??= askedMs;
      client.emit("error", error);
    });
  }, pingMs).unref();
  return {
    pid,
    lost: lost.finally(() => clearInterval(ping)),
    silentSinceMs: () => silentSinceMs,
    close,
  };
}

/**
 * Creates a listener on a connection of its own. It calls `silent` after a connection gave no answer, with the time since which. It does so
 * once a reconnect was tried, whether that worked or not: other connections are as dead. A server that was only slow has answered by then.
 */
export function createListener(
  server: ClientConfig,
  log: Log,
  silent: (sinceMs: number) => void,
): Listener {
  const number = randomInt(1, 2 ** 31);
  let current: Listening | undefined;
  let closed = false;
  let silentSinceMs: number | undefined;

  async function run(receive: (text: string) => void, reconnected: () => void): Promise<void> {
    let retryMs = retryMsMin;
    for (;;) {
      try {
        const listening = await listen({ server, log }, number, receive);
        if (closed) return await listening.close();
        current = listening;
        retryMs = retryMsMin;
        if (silentSinceMs !== undefined) silent(silentSinceMs);
        // The first connection counts too: caches filled before it may have missed a change.
        reconnected();
        const why = await listening.lost;
        current = undefined;
        silentSinceMs = listening.silentSinceMs();
        // Do not wait for it: a dead peer never answers.
        void listening.close();
        if (!closed) log.warn({ err: why }, "the signal listener lost its connection");
      } catch (error) {
        if (silentSinceMs !== undefined) silent(silentSinceMs);
        // Silent if `close` came while it was connecting.
        if (!closed) log.warn({ err: error }, "the signal listener cannot connect");
      }
      if (closed) return;
      await sleep(retryMs, undefined, { ref: false });
      retryMs = Math.min(retryMs * 2, retryMsMax);
    }
  }

  return {
    start: (receive, reconnected) => void run(receive, reconnected),
    healthy: () => current !== undefined,
    name: () => current?.pid,
    number,
    async absent(database, numbers) {
      const rows = await database.query<{ number: number }>(
        `select n as number from unnest($1::integer[]) n where not exists (select from pg_locks l
           where l.locktype = 'advisory' and l.classid = $2 and l.objid = n and l.objsubid = 2 and l.granted
             and l.database = (select d.oid from pg_database d where d.datname = current_database()))`,
        [numbers, numberLocks],
      );
      return rows.map((row) => row.number);
    },
    async listeners(database) {
      const rows = await database.query<{ pid: string }>(
        "select pid::text as pid from pg_stat_activity where application_name = $1 and datname = current_database()",
        [applicationName],
      );
      return rows.map(({ pid }) => pid);
    },
    async close() {
      closed = true;
      await current?.close();
    },
  };
}
