/** The address that a host, a port and TLS make. */
import { hostInUrl } from "../base/listening-host.ts";
import type { Settings } from "../catalog/index.ts";

/** Where a gateway answers that listens on this host and port. */
export function listeningUrl(host: string, port: number, { server: { tls } }: Settings): string {
  const scheme = tls === undefined ? "http" : "https";
  return `${scheme}://${hostInUrl(host)}:${port}`;
}
