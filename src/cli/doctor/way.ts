/** What is found on the way to an address, and why it was not reached. */
import type { Inspected } from "../../upstream/index.ts";
import { findCertificate } from "./certificate-days.ts";
import { failed, ok, type Finding } from "./findings.ts";

/** Reached, by which proxy, and for how long its certificate is good. */
export function wayFinding(check: string, { proxy, certificate }: Inspected): Finding {
  const way = proxy === undefined ? "reached directly" : `reached through ${proxy}`;
  if (certificate === undefined) return ok(check, `${way}, without TLS`);
  const message = `${way}; certificate of ${certificate.issuer}`;
  const renew = "have the server's certificate renewed";
  return findCertificate({ check, message, validTo: certificate.validTo, renew });
}

/** Not reached. `reason` has no secrets; the words of the table of faults end with what to do. `field` has the address. */
export function notReached(check: string, reason: string, field: string): Finding {
  const at = reason.lastIndexOf("; ");
  if (at === -1) return failed(check, reason, `check ${field}`);
  return failed(check, reason.slice(0, at), reason.slice(at + 2));
}
