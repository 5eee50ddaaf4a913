/** Findings on the connection to an address, and on why it failed. */
import type { Inspected } from "../../upstream/index.ts";
import { findCertificate } from "./certificate-days.ts";
import { failed, ok, type Finding } from "./findings.ts";

/** The finding on a connection: through which proxy, and when its certificate expires. */
export function connectionFinding(check: string, { proxy, certificate }: Inspected): Finding {
  const way = proxy === undefined ? "reached directly" : `reached through ${proxy}`;
  if (certificate === undefined) return ok(check, `${way}, without TLS`);
  const message = `${way}; certificate of ${certificate.issuer}`;
  const renew = "have the server's certificate renewed";
  return findCertificate({ check, message, validTo: certificate.validTo, renew });
}

/**
 * The finding on a failed connection. `reason` has no secrets; if it has a `; `, the fix follows the last one. `field` is the setting
 * that contains the address.
 */
export function notReached(check: string, reason: string, field: string): Finding {
  const at = reason.lastIndexOf("; ");
  if (at === -1) return failed(check, reason, `check ${field}`);
  return failed(check, reason.slice(0, at), reason.slice(at + 2));
}
