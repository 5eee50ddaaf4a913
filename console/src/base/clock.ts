/** What time it is for the gateway: the clock of a browser may be minutes off, and what is said of both must fit. */

/** By so many milliseconds the clocks may differ unnoticed: answers tell whole seconds, and take a while. */
const sameMs = 3_000;

let aheadMs = 0;

/** Learns the gateway's clock from the `Date` of an answer. */
export function noteDate(text: string | null): void {
  const ms = text === null ? Number.NaN : Date.parse(text);
  if (Number.isNaN(ms)) return;
  const now = ms - Date.now();
  aheadMs = Math.abs(now) <= sameMs ? 0 : now;
}

/** Now, for the gateway, in milliseconds since 1970. */
export const gatewayMs = (): number => Date.now() + aheadMs;

/** The same as a moment. */
export const gatewayNow = (): Date => new Date(gatewayMs());
