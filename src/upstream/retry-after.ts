/** The headers of an answer about another attempt: `Retry-After` (RFC 9110, 10.2.3), `retry-after-ms` of OpenAI and Azure, `x-should-retry`. */

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

/** True if the vendor says that the same request must not be sent again, as the SDKs of OpenAI and Anthropic understand it. */
export const forbidsRetry = (headers: Headers): boolean => headers["x-should-retry"] === "false";

const textOf = (header: Headers[string]): string | undefined =>
  typeof header === "string" ? header : undefined;

const positive = (ms: number): number | undefined =>
  Number.isFinite(ms) && ms > 0 ? ms : undefined;
