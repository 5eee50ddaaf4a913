/** Listens on the gateway's own address, or on sockets that its supervisor has bound. */
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import type { Settings } from "../catalog/index.ts";
import { listenOnAll, type Place } from "../http/index.ts";
import type { Environment } from "./environment.ts";
import { listeningUrl } from "./listening-url.ts";
import type { WorkerRole } from "./workers/role.ts";
import { GatewayPort } from "./workers/gateway-port.ts";

interface ListenOptions {
  readonly environment: Pick<Environment, "host" | "port">;
  readonly settings: Settings;
}

/** Listens; returns the URL. @throws Error of `listen` or `getaddrinfo` */
export async function listenOn(
  app: FastifyInstance,
  { environment, settings }: ListenOptions,
  role: Pick<WorkerRole, "isWorker" | "given">,
): Promise<string> {
  const given = placesGiven(environment, role);
  if (given === undefined) await listenAlone(app.server, environment);
  else await listenOnAll(app.server, given);
  const { host } = environment;
  const { port } = app.server.address() as AddressInfo;
  return role.given.url ?? listeningUrl(host, port, settings);
}

/** Returns where a worker listens; undefined for a single process. */
function placesGiven(
  { host, port }: ListenOptions["environment"],
  { isWorker, given }: Pick<WorkerRole, "isWorker" | "given">,
): Place[] | undefined {
  if (given.sockets !== undefined) return given.sockets.main.map((fd) => ({ fd }));
  // The cluster module gets the socket from the supervisor.
  return isWorker ? [{ host, port }] : undefined;
}

async function listenAlone(
  server: Server,
  { host, port }: ListenOptions["environment"],
): Promise<void> {
  const taken = await GatewayPort.take(host, port);
  try {
    await listenOnAll(server, taken.places());
  } finally {
    taken.settled();
  }
}
