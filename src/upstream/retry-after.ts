/** The header `Retry-After`: seconds, or a date. RFC 9110, 10.2.3. */

/** How long a vendor asks to be left alone, in milliseconds; undefined where it says nothing that can be read, or a time that is over. */
export function retryAfterMsOf(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  const seconds = Number(header);
  const ms = Number.isNaN(seconds) ? Date.parse(header) - nowMs : seconds * 1000;
  return Number.isFinite(ms) && ms > 0 ? ms : undefined;
}
