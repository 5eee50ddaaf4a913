/**
 * Pool connections that died without an error, such as at a failover of the server's host or behind a firewall that forgot them. The system
 * keeps sending to them for a quarter of an hour, and every statement on them waits for as long.
 */
import type { Socket } from "node:net";
import type { Pool, PoolClient } from "pg";

/** Fields of the driver that its type declaration leaves out. */
interface Inside {
  readonly connection: {
    readonly stream: Socket;
    on(event: "readyForQuery", heard: () => void): void;
  };
}

/** Breaks connections without an answer since `sinceMs` (of `performance.now`); returns their number. */
export type CloseUnresponsive = (sinceMs: number) => number;

/** Starts to record when each connection of the pool answered last. Idle connections are cut too, which costs one reconnect each. */
export function watchResponses(pool: Pool): CloseUnresponsive {
  const answeredMs = new Map<PoolClient, number>();
  const insideOf = (client: PoolClient) => (client as unknown as Inside).connection;
  pool.on("connect", (client) => {
    const hear = () => void answeredMs.set(client, performance.now());
    hear();
    insideOf(client).on("readyForQuery", hear);
  });
  pool.on("remove", (client) => void answeredMs.delete(client));
  return (sinceMs) => {
    const silent = [...answeredMs].filter(([, atMs]) => atMs < sinceMs);
    for (const [client] of silent) insideOf(client).stream.destroy();
    return silent.length;
  };
}
