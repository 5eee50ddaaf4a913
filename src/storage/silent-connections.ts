/**
 * Connections of a pool that died without a word, as at a failover of the server's host or behind a firewall that forgot them. The
 * system goes on sending to them for a quarter of an hour, and whatever asked on one waits for as long.
 */
import type { Socket } from "node:net";
import type { Pool, PoolClient } from "pg";

/** The driver's own, which its declaration leaves out. */
interface Inside {
  readonly connection: {
    readonly stream: Socket;
    on(event: "readyForQuery", heard: () => void): void;
  };
}

/** Breaks the connections on which no statement was answered since a moment (of `performance.now`); returns how many. */
export type CutSilent = (sinceMs: number) => number;

/** Notes from now on when each connection of the pool answered last. Idle ones are cut too, which costs a new connection each. */
export function watchSilence(pool: Pool): CutSilent {
  const heardMs = new Map<PoolClient, number>();
  const insideOf = (client: PoolClient) => (client as unknown as Inside).connection;
  pool.on("connect", (client) => {
    const hear = () => void heardMs.set(client, performance.now());
    hear();
    insideOf(client).on("readyForQuery", hear);
  });
  pool.on("remove", (client) => void heardMs.delete(client));
  return (sinceMs) => {
    const silent = [...heardMs].filter(([, atMs]) => atMs < sinceMs);
    for (const [client] of silent) insideOf(client).stream.destroy();
    return silent.length;
  };
}
