/** Where the gateway listens: at an address of its own, or on a socket that its supervisor has bound. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import type { Settings } from "../catalog/index.ts";
import type { Environment } from "./environment.ts";
import { listeningUrl } from "./listening-url.ts";
import type { Given } from "./workers/role.ts";

interface ListenOptions {
  readonly environment: Pick<Environment, "host" | "port">;
  readonly settings: Settings;
}

/** Listens; returns the URL. */
export async function listenOn(
  app: FastifyInstance,
  { environment: { host, port }, settings }: ListenOptions,
  { url, sockets }: Given,
): Promise<string> {
  if (sockets === undefined) await app.listen({ host, port });
  else {
    app.server.listen({ fd: sockets.main });
    await once(app.server, "listening");
  }
  if (url !== undefined) return url;
  const { port: found } = app.server.address() as AddressInfo;
  return listeningUrl(host, found, settings);
}
