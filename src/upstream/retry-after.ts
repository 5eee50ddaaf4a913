/** Parses the wait that an answer asks for: `Retry-After` (RFC 9110, 10.2.3), or `retry-after-ms` of OpenAI and Azure. */

/** Headers with lower-case names. */
type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Returns milliseconds; undefined if there is no readable value, or the time is over. `retry-after-ms` wins, as in the vendor's own
 * clients: it is the exact one of the two.
 */
export function retryAfterMsOf(headers: Headers, nowMs: number): number | undefined {
  const exact = positive(Number(textOf(headers["retry-after-ms"])));
  if (exact !== undefined) return exact;
  const header = textOf(headers["retry-after"]);
  if (header === undefined) return undefined;
  const seconds = Number(header);
  return positive(Number.isNaN(seconds) ? Date.parse(header) - nowMs : seconds * 1000);
}

const textOf = (header: Headers[string]): string | undefined =>
  typeof header === "string" ? header : undefined;

const positive = (ms: number): number | undefined =>
  Number.isFinite(ms) && ms > 0 ? ms : undefined;
