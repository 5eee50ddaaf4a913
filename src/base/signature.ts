/**
 * The headers of a signed callback: our own `Gw-Signature`, and the three of Standard Webhooks for ready-made verifiers.
 * HOOK-03, HOOK-04; docs/decisions.md "Callback".
 */
import { createHmac } from "node:crypto";

const secretPrefix = "whsec_";
const userAgent = "tollgate";

export interface Unsigned {
  readonly eventId: string;
  /** The event's text, exactly as it is sent. */
  readonly text: string;
  /** The number of this try for the event, from 1. */
  readonly attempt: number;
  /** The time of this try; receivers refuse old ones. */
  readonly nowMs: number;
}

/**
 * Returns the headers of one try, signed with each secret (`whsec_...`; several during a replacement). `Gw-Signature` uses a whole secret
 * as its key, Standard Webhooks the decoded bytes after its prefix.
 */
export function signedHeaders(input: Unsigned, secrets: readonly string[]): Record<string, string> {
  const { eventId, text, attempt } = input;
  const time = Math.floor(input.nowMs / 1000);
  const own = secrets.map(
    (secret) => `v1=${createHmac("sha256", secret).update(`${time}.${text}`).digest("hex")}`,
  );
  const standard = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(secretPrefix.length), "base64");
    const mac = createHmac("sha256", key).update(`${eventId}.${time}.${text}`);
    return `v1,${mac.digest("base64")}`;
  });
  return {
    "content-type": "application/json",
    "user-agent": userAgent,
    "Gw-Signature": [`t=${time}`, ...own].join(","),
    "Gw-Event-Id": eventId,
    "Gw-Delivery-Attempt": String(attempt),
    "webhook-id": eventId,
    "webhook-timestamp": String(time),
    "webhook-signature": standard.join(" "),
  };
}
