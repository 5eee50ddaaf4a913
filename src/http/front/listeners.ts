/**
 * All listeners of a gateway. A round of Node's event loop accepts one connection per listener. While rounds are long, as with many
 * calls in flight, new connections wait for each other. So there are several listeners, on sockets that share a port or on one socket,
 * and a round accepts one connection of each.
 */
import { once } from "node:events";
import type { Server } from "node:http";
import { createServer, Server as TcpServer, type BoundSocket } from "node:net";

/** An address, an inherited file descriptor, or a socket of this process. */
export type Place =
  | { readonly host: string; readonly port: number }
  | { readonly fd: number }
  | BoundSocket;

interface ExtraListeners {
  readonly servers: readonly TcpServer[];
  /** Resolves when they and all their connections have closed. */
  readonly closed: Promise<unknown>;
}

/** The further listeners of a server. */
const extraListenersOf = new WeakMap<Server, ExtraListeners>();

/**
 * Listens on all places, in place of the server's own `listen`. The server gets every connection. The further listeners close with it.
 * @throws Error of `listen`
 */
export async function listenOnAll(server: Server, places: readonly Place[]): Promise<void> {
  // The same options as Node's HTTP server.
  const others = places.slice(1).map(() => createServer({ allowHalfOpen: true, noDelay: true }));
  for (const other of others) other.on("connection", (socket) => server.emit("connection", socket));
  server.once("close", () => others.forEach((other) => other.close()));
  extraListenersOf.set(server, { servers: others, closed: Promise.all(others.map(closing)) });
  for (const [at, one] of [server, ...others].entries()) {
    one.listen(places[at]);
    await once(one, "listening");
  }
}

const closing = (server: TcpServer): Promise<void> =>
  new Promise((resolve) => server.once("close", () => resolve()));

/** Resolves when all listeners and all connections have closed. Call it before the server closes. */
export const whenClosed = async (server: Server): Promise<void> => {
  await closing(server);
  await extraListenersOf.get(server)?.closed;
};

const allListeners = (server: Server): TcpServer[] => [
  server,
  ...(extraListenersOf.get(server)?.servers ?? []),
];

// Node's HTTP server first closes all idle connections, and new ones may arrive meanwhile. So this is `close` of TCP servers.
// oxlint-disable-next-line typescript/unbound-method -- it is called with its server
const { close } = TcpServer.prototype;

/** Stops accepting connections; open ones stay. */
export const closeListeners = (server: Server): void => {
  for (const one of allListeners(server)) close.call(one);
};

/** How many connections are open. */
export async function countConnections(server: Server): Promise<number> {
  const counts = await Promise.all(allListeners(server).map(connectionsOf));
  return counts.reduce((sum, count) => sum + count, 0);
}

const connectionsOf = (server: TcpServer): Promise<number> =>
  new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );
