/** The finding on a certificate, with the days until it expires. */
import { counted } from "../../base/counted.ts";
import { dayMs } from "../../base/durations.ts";
import { daysWarned } from "../certificate-watch.ts";
import { failed, ok, warning, type Finding } from "./findings.ts";

interface Certified {
  readonly check: string;
  /** The rest of the finding; the days are appended. */
  readonly message: string;
  /** In the format of the certificate. */
  readonly validTo: string;
  /** The fix if few days are left. */
  readonly renew: string;
}

/** Fails if the certificate has expired; warns in its last two weeks. */
export function findCertificate({ check, message, validTo, renew }: Certified): Finding {
  const days = Math.floor((Date.parse(validTo) - Date.now()) / dayMs);
  if (days < 0) return failed(check, `${message}, which expired: ${validTo}`, renew);
  const found = `${message}, good for ${counted(days, "more day")}`;
  return days < daysWarned ? warning(check, found, renew) : ok(check, found);
}
