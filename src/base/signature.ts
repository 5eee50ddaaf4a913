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
  /** Counts every try of this event, the first is 1. */
  readonly attempt: number;
  /** When this try is made; receivers refuse what is old. */
  readonly nowMs: number;
}

/**
 * Signs one try with each of the secrets (`whsec_...`; several while one is being replaced). `Gw-Signature` takes a whole
 * secret as its key, Standard Webhooks the bytes behind its prefix.
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
    "gw-signature": [`t=${time}`, ...own].join(","),
    "gw-event-id": eventId,
    "gw-delivery-attempt": String(attempt),
    "webhook-id": eventId,
    "webhook-timestamp": String(time),
    "webhook-signature": standard.join(" "),
  };
}
