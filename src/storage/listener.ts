/**
 * How signals travel: `notify` sends one, and a dedicated listening connection hears them. It connects again by itself, and notices a connection
 * that died without a word (a ping that gets no answer). docs/architecture.md.
 */
import { withKnownFiles } from "./known-files.ts";
import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, type ClientConfig } from "pg";
import type { Log } from "../base/log.ts";
import { keepAliveInitialDelayMillis } from "./pool.ts";
import type { Queryable } from "./queryable.ts";

/** The one PostgreSQL channel in use. */
const wireChannel = "tollgate";

/** Sends a signal; within a transaction it goes out with the commit. */
export async function notify(tx: Queryable, channel: string, payload: string): Promise<void> {
  await tx.query("select pg_notify($1, $2)", [wireChannel, `${channel}:${payload}`]);
}

/** What receives the notifications. */
export interface Listener {
  start(receive: (text: string) => void, reconnected: () => void): void;
  healthy(): boolean;
  close(): Promise<void>;
  /** The names of all that listen on the database now. */
  listeners(database: Queryable): Promise<readonly string[]>;
  /** This process's name among them; undefined while it does not listen. */
  name(): string | undefined;
  /** By which others find out whether this process is connected. It stays when the connection is made again. */
  readonly number: number;
  /** Which of these numbers no listening connection has now. */
  absent(database: Queryable, numbers: readonly number[]): Promise<readonly number[]>;
}

/** The first half of the advisory locks that tell a process's number: its listening connection holds one, and they end together. */
const numberLocks = 0x746f6c6c;

const retryMsMin = 100;
const retryMsMax = 3_000;
const pingMs = 5_000;
const answerMsMax = 3_000;

/** The name by which the listening connections of all gateways are found. */
const applicationName = "tollgate signals";

interface Listening {
  /** The process that serves it in the server, by which others know it. */
  readonly pid: string;
  /** Resolves, with the reason, when the connection is lost. */
  readonly lost: Promise<unknown>;
  /** Since when it gave no answer (by `performance.now`), where it was lost by that. */
  silentSinceMs(): number | undefined;
  close(): Promise<void>;
}

/** The driver's words where a statement had no answer in its time. */
const isSilence = (error: unknown): boolean =>
  error instanceof Error && error.message === "Query read timeout";

/** One listening connection, from LISTEN to its loss. */
async function listen(
  { server, log }: { readonly server: ClientConfig; readonly log: Log },
  number: number,
  receive: (text: string) => void,
): Promise<Listening> {
  const client = new Client({
    ...withKnownFiles(server, log),
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
    // Shared: the server may not have noticed yet that the connection before is gone.
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
 * A listener on one connection of its own. `silent` hears that it gave no answer, and since when, once it was tried to connect
 * again: whether that worked or not, other connections are as dead. A server that is only slow for a moment has answered by then.
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
        // The first time counts too: what was cached before the listener stood may have missed a change.
        reconnected();
        const why = await listening.lost;
        current = undefined;
        silentSinceMs = listening.silentSinceMs();
        // A dead peer answers no goodbye; nothing waits for it.
        void listening.close();
        if (!closed) log.warn({ err: why }, "the signal listener lost its connection");
      } catch (error) {
        if (silentSinceMs !== undefined) silent(silentSinceMs);
        // One that was still connecting when everything ended.
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
