/**
 * All that a gateway listens with. A round of Node's event loop takes one connection of a listener: while rounds are long, as
 * they are with many calls under way, new connections wait for each other. So there are several listeners, of sockets that
 * share a port or of one socket, and a round takes one connection of each.
 */
import { once } from "node:events";
import type { Server } from "node:http";
import { createServer, Server as TcpServer, type BoundSocket } from "node:net";

/** An address, a descriptor that was inherited, or a socket of our own. */
export type Place =
  | { readonly host: string; readonly port: number }
  | { readonly fd: number }
  | BoundSocket;

interface Others {
  readonly servers: readonly TcpServer[];
  /** Resolves when they have closed, and with them their connections. */
  readonly closed: Promise<unknown>;
}

/** What listens beside a server. */
const othersOf = new WeakMap<Server, Others>();

/**
 * Listens on all of them, in place of the server's own `listen`; every connection comes in at the server. They close with it.
 * @throws Error of `listen`
 */
export async function listenOnAll(server: Server, places: readonly Place[]): Promise<void> {
  // As Node's HTTP server takes its connections.
  const others = places.slice(1).map(() => createServer({ allowHalfOpen: true, noDelay: true }));
  for (const other of others) other.on("connection", (socket) => server.emit("connection", socket));
  server.once("close", () => others.forEach((other) => other.close()));
  othersOf.set(server, { servers: others, closed: Promise.all(others.map(closing)) });
  for (const [at, one] of [server, ...others].entries()) {
    one.listen(places[at]);
    await once(one, "listening");
  }
}

const closing = (server: TcpServer): Promise<void> =>
  new Promise((resolve) => server.once("close", () => resolve()));

/** Resolves when no listener is left, and no connection. Call it before the server closes. */
export const whenClosed = async (server: Server): Promise<void> => {
  await closing(server);
  await othersOf.get(server)?.closed;
};

const allOf = (server: Server): TcpServer[] => [server, ...(othersOf.get(server)?.servers ?? [])];

// Node's HTTP server would first look through all connections and close the idle ones: a new connection may arrive meanwhile.
// oxlint-disable-next-line typescript/unbound-method -- it is called with its server
const { close } = TcpServer.prototype;

/** Takes no connection any more; those that are open stay. */
export const closeListeners = (server: Server): void => {
  for (const one of allOf(server)) close.call(one);
};

/** How many connections are open. */
export async function countConnections(server: Server): Promise<number> {
  const counts = await Promise.all(allOf(server).map(connectionsOf));
  return counts.reduce((sum, count) => sum + count, 0);
}

const connectionsOf = (server: TcpServer): Promise<number> =>
  new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );
