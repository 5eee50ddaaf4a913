/**
 * Watches the expiry of the gateway's own certificate: a metric, and from two weeks before the expiry a log line once a day. A renewed
 * certificate counts as soon as new connections use it. docs/network.md "TLS".
 */
import type { Clock } from "../base/clock.ts";
import { dayText } from "../base/days.ts";
import { dayMs } from "../base/durations.ts";
import type { Log } from "../base/log.ts";
import type { OwnTls } from "./own-tls.ts";

/** Days before the expiry at which warnings start. Automatic renewal happens long before this. */
export const daysWarned = 14;

export const renewOwn =
  "renew it, and put it where server.tls.cert says: it is read within seconds";

interface CertificateWatch {
  readonly ownTls: Pick<OwnTls, "expiresMs">;
  readonly clock: Clock;
  readonly log: Pick<Log, "warn" | "error">;
}

/** Returns a function that checks the certificate. It logs at most once a day, but at once after the certificate has changed. */
export function createCertificateWatch({ ownTls, clock, log }: CertificateWatch): () => void {
  let said = { expiresMs: 0, atMs: -Infinity };
  return () => {
    const expiresMs = ownTls.expiresMs();
    const nowMs = clock.now();
    if (expiresMs === undefined || expiresMs - nowMs >= daysWarned * dayMs) return;
    if (said.expiresMs === expiresMs && Math.abs(nowMs - said.atMs) < dayMs) return;
    said = { expiresMs, atMs: nowMs };
    const fields = { expires: dayText(expiresMs), fix: renewOwn };
    if (expiresMs < nowMs) log.error(fields, "the gateway's own certificate has expired");
    else {
      const days_left = Math.floor((expiresMs - nowMs) / dayMs);
      log.warn({ days_left, ...fields }, "the gateway's own certificate expires soon");
    }
  };
}
