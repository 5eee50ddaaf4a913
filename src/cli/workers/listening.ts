/**
 * The port that all workers share. On Linux the supervisor binds a socket for each worker and passes it down. Connections that wait in
 * it survive the worker's replacement or death, because the supervisor keeps it open. On other systems Node's cluster module
 * distributes connections in turn.
 */
import { lookup } from "node:dns/promises";
import type { BoundSocket } from "node:net";
import type { Settings } from "../../catalog/index.ts";
import type { Environment } from "../environment.ts";
import { listeningUrl } from "../listening-url.ts";
import { listeningBy, ofMetrics } from "../listening-settings.ts";
import { bindAlone, canShare, GatewayPort, probe } from "./gateway-port.ts";

/** Sockets that a worker inherits. */
interface WorkerSockets {
  /** One for each address that the gateway listens on. */
  readonly main: readonly BoundSocket[];
  /** One, or none. */
  readonly metrics: readonly BoundSocket[];
}

export interface Listening {
  readonly url: string;
  readonly port: number;
  /** The sockets of worker `number`; undefined if the cluster module distributes connections. */
  socketsOf(number: number): WorkerSockets | undefined;
  /** Closes the sockets of a worker that does not start, so that the system sends its connections to the others. */
  release(number: number): void;
  /** Closes the supervisor's sockets; each port closes when the last worker closes its own. May be called twice. */
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
  const { own } = metrics;
  if (own !== undefined) await listeningBy(ofMetrics, () => probe(own.host, own.port));
  const taken = await GatewayPort.take(host, wanted);
  const { port } = taken;
  const url = listeningUrl(host, port, settings);
  const nothing = (): undefined => undefined;
  if (!canShare()) return { url, port, socketsOf: nothing, release: nothing, close: nothing };
  // One socket for all workers: scrapes are few, and any worker answers for all.
  let metricsSockets =
    own === undefined
      ? []
      : await listeningBy(ofMetrics, async () => {
          const { address } = await lookup(own.host);
          return [bindAlone({ host: address, port: own.port })];
        });
  const sockets = new Map(Array.from({ length: count }, (_, index) => [index + 1, taken.bind()]));
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
