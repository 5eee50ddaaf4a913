/** The URL that follows from a host, a port and TLS. */
import { hostInUrl } from "../base/listening-host.ts";
import type { Settings } from "../catalog/index.ts";

/** Returns the URL of a gateway that listens on this host and port. */
export function listeningUrl(host: string, port: number, { server: { tls } }: Settings): string {
  const scheme = tls === undefined ? "http" : "https";
  return `${scheme}://${hostInUrl(host)}:${port}`;
}
