/**
 * The port that all workers share. On Linux the supervisor binds a socket for each worker and hands it down: what waits in it
 * is not lost when the worker is replaced or dies, because the supervisor still holds it. Elsewhere Node's cluster module hands
 * connections out in turn.
 */
import { lookup } from "node:dns/promises";
import type { BoundSocket } from "node:net";
import type { Settings } from "../../catalog/index.ts";
import type { Environment } from "../environment.ts";
import { listeningUrl } from "../listening-url.ts";
import { bindAlone, canShare, GatewayPort, probe } from "./gateway-port.ts";

/** What a worker inherits. */
interface WorkerSockets {
  /** One of each address that the gateway listens at. */
  readonly main: readonly BoundSocket[];
  /** One, or none. */
  readonly metrics: readonly BoundSocket[];
}

export interface Listening {
  readonly url: string;
  readonly port: number;
  /** What worker `number` listens on; undefined where the cluster module hands connections out. */
  socketsOf(number: number): WorkerSockets | undefined;
  /** Gives up the sockets of a worker that does not start: the system sends its connections to the others. */
  release(number: number): void;
  /** Gives the sockets up: they are closed when the last worker closes them. Twice is once. */
  close(): void;
}

interface ListeningOptions {
  readonly environment: Pick<Environment, "host" | "port" | "metrics">;
  readonly settings: Settings;
}

/** Takes the port. @throws Error of `listen` or `getaddrinfo` */
export async function openListening(
  { environment: { host, port: wanted, metrics }, settings }: ListeningOptions,
  count: number,
): Promise<Listening> {
  if (metrics.own !== undefined) await probe(metrics.own.host, metrics.own.port);
  const taken = await GatewayPort.take(host, wanted);
  const { port } = taken;
  const url = listeningUrl(host, port, settings);
  const nothing = (): undefined => undefined;
  if (!canShare()) return { url, port, socketsOf: nothing, release: nothing, close: nothing };
  // One for all: scrapes are few, whoever takes one answers for all.
  const own = metrics.own && {
    host: (await lookup(metrics.own.host)).address,
    port: metrics.own.port,
  };
  const sockets = new Map(Array.from({ length: count }, (_, index) => [index + 1, taken.bind()]));
  let metricsSockets = own === undefined ? [] : [bindAlone(own)];
  return {
    url,
    port,
    socketsOf(number) {
      const main = sockets.get(number) ?? taken.bind();
      sockets.set(number, main);
      return { main, metrics: metricsSockets };
    },
    release(number) {
      for (const socket of sockets.get(number) ?? []) socket.close();
      sockets.delete(number);
    },
    close() {
      taken.settled();
      for (const socket of [...[...sockets.values()].flat(), ...metricsSockets]) socket.close();
      sockets.clear();
      metricsSockets = [];
    },
  };
}
