/**
 * Checks that a `Host` header can only mean this machine or its network. A web page can point a domain name at 127.0.0.1 and then read what
 * answers there (DNS rebinding); its requests carry that name.
 */
import { isIP } from "node:net";

/** True for an IP address, `localhost`, and a name without a dot, which cannot be registered: `sandbox:8081`. */
export function isLocalHost(host: string | undefined): boolean {
  const match = /^(?:\[([\da-fA-F:.]+)\]|([\w.-]+))(?::\d{1,5})?$/.exec(host ?? "");
  if (match === null) return false;
  const [, ipv6, name = ""] = match;
  if (ipv6 !== undefined) return isIP(ipv6) === 6;
  return isIP(name) === 4 || !name.includes(".") || name.toLowerCase().endsWith(".localhost");
}
