/** The gateway's clock: the browser's may be minutes off, and times of both must agree. */

/** Clock differences up to this are ignored, in ms: the `Date` header has whole seconds, and responses take time. */
const sameMs = 3_000;

let aheadMs = 0;

/** Learns the gateway's clock from the `Date` header of a response. */
export function noteDate(text: string | null): void {
  const ms = text === null ? Number.NaN : Date.parse(text);
  if (Number.isNaN(ms)) return;
  const now = ms - Date.now();
  aheadMs = Math.abs(now) <= sameMs ? 0 : now;
}

/** The gateway's current time, in ms since 1970. */
export const gatewayMs = (): number => Date.now() + aheadMs;

/** The gateway's current time, as a Date. */
export const gatewayNow = (): Date => new Date(gatewayMs());
