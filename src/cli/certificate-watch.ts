/**
 * The end of the gateway's own certificate: a metric, and a line in the log once a day from two weeks before. A certificate that was
 * renewed counts as soon as new connections get it. docs/operate.md "TLS".
 */
import type { Clock } from "../base/clock.ts";
import { dayText } from "../base/days.ts";
import { dayMs } from "../base/durations.ts";
import type { Log } from "../base/log.ts";
import type { OwnTls } from "./own-tls.ts";

/** Whoever renews certificates by itself has done so long before. */
export const daysWarned = 14;

export const renewOwn =
  "renew it, and put it where server.tls.cert says: it is read within seconds";

interface CertificateWatch {
  readonly ownTls: Pick<OwnTls, "expiresMs">;
  readonly clock: Clock;
  readonly log: Pick<Log, "warn" | "error">;
}

/** Looks at the certificate whenever it is called, and says at most once a day what it finds; of another certificate at once. */
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
