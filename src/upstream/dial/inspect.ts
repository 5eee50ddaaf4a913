/** Makes one test connection: it shows whether a server can be reached, by which route, and its certificate. */
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { connectorOf } from "./connector.ts";
import type { DialRoute } from "./dial-route.ts";

export interface Inspected {
  /** The proxy's address, if one is used. */
  readonly proxy?: string | undefined;
  /** Absent without TLS. */
  readonly certificate?: { readonly validTo: string; readonly issuer: string } | undefined;
}

/** Connects and closes again. @throws FaultError, or another error of the connection */
export function inspect(
  origin: string,
  dialRoute: DialRoute,
  connectMs: number,
): Promise<Inspected> {
  const { protocol, host, hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    connectorOf(
      origin,
      dialRoute,
      connectMs,
    )({ protocol, host, hostname, port }, (...[error, socket]) => {
      if (error !== null) return reject(error);
      const certificate = certificateOf(socket);
      socket.on("error", () => undefined).destroy();
      resolve({ proxy: dialRoute.proxy?.shown, certificate });
    });
  });
}

function certificateOf(socket: Socket): Inspected["certificate"] {
  const shown = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined;
  if (shown === undefined) return undefined;
  const issuer = shown.issuer.split("\n").at(-1) ?? "";
  return { validTo: shown.validTo, issuer };
}
