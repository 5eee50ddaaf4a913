/**
 * The port that all workers share. On Linux the supervisor binds one socket for each worker with SO_REUSEPORT and hands it
 * down: the system spreads connections over the sockets, and what waits in one is not lost when its worker is replaced or
 * dies, because the supervisor still holds it. Elsewhere Node's cluster module hands connections out in turn.
 */
import { lookup } from "node:dns/promises";
import { once } from "node:events";
import * as net from "node:net";
import type { AddressInfo } from "node:net";
import type { Settings } from "../../catalog/index.ts";
import type { Environment } from "../environment.ts";
import { listeningUrl } from "../listening-url.ts";

export interface Listening {
  readonly url: string;
  readonly port: number;
  /** What worker `number` inherits to listen on; undefined where the cluster module hands connections out. */
  socketsOf(
    number: number,
  ): { readonly main: number; readonly metrics: number | undefined } | undefined;
  /** Gives up the socket of a worker that does not start: the system sends its connections to the others. */
  release(number: number): void;
  /** Gives the sockets up: they are closed when the last worker closes them. Twice is once. */
  close(): void;
}

/** Since Node 26.4; before it, and where the system does not spread evenly, the cluster module does it. */
const canShare = (): boolean =>
  process.platform === "linux" && (net as { BoundSocket?: unknown }).BoundSocket !== undefined;

/**
 * Fails as listening does where the port is taken, by another Tollgate too, which would let us share it. @returns the port
 */
async function probe(host: string, port: number): Promise<number> {
  const server = net.createServer();
  server.listen({ host, port, exclusive: true });
  await once(server, "listening");
  const { port: found } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return found;
}

interface ListeningOptions {
  readonly environment: Pick<Environment, "host" | "port" | "metrics">;
  readonly settings: Settings;
}

/** Takes the port. @throws Error of `listen` or `getaddrinfo` */
export async function openListening(
  { environment: { host, port, metrics }, settings }: ListeningOptions,
  count: number,
  share = canShare(),
): Promise<Listening> {
  const found = await probe(host, port);
  if (metrics.own !== undefined) await probe(metrics.own.host, metrics.own.port);
  const url = listeningUrl(host, found, settings);
  const nothing = (): undefined => undefined;
  if (!share) return { url, port: found, socketsOf: nothing, release: nothing, close: nothing };
  const { address } = await lookup(host);
  const bind = () => new net.BoundSocket({ host: address, port: found, reusePort: true });
  const sockets = new Map(Array.from({ length: count }, (_, index) => [index + 1, bind()]));
  // One for all: scrapes are few, whoever takes one answers for all.
  const own = metrics.own && {
    host: (await lookup(metrics.own.host)).address,
    port: metrics.own.port,
  };
  let metricsSocket = own && new net.BoundSocket(own);
  return {
    url,
    port: found,
    socketsOf(number) {
      const socket = sockets.get(number) ?? bind();
      sockets.set(number, socket);
      return { main: socket.fd(), metrics: metricsSocket?.fd() };
    },
    release(number) {
      sockets.get(number)?.close();
      sockets.delete(number);
    },
    close() {
      for (const socket of sockets.values()) socket.close();
      sockets.clear();
      metricsSocket?.close();
      metricsSocket = undefined;
    },
  };
}
