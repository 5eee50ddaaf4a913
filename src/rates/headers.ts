/** Headers of every answer about its limits of requests and tokens, with the names that OpenAI's clients read. LIM-17. */
import type { Meter } from "./meter.ts";

/** Formats a duration as OpenAI does: `1m0s`, `12s`, `0s`. */
function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}

/** Returns the headers. If several limits have the same unit, the one with the least left is shown. */
export function headersOf(
  parts: readonly { readonly meter: Meter; readonly limit: number }[],
  nowMs: number,
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const unit of ["requests", "tokens"] as const) {
    const [least] = parts
      .filter(({ meter }) => meter.name.unit === unit)
      .map(({ meter, limit }) => ({ limit, ...meter.remainingAt(limit, nowMs) }))
      .sort((one, other) => one.remaining - other.remaining);
    if (least === undefined) continue;
    headers[`x-ratelimit-limit-${unit}`] = String(least.limit);
    headers[`x-ratelimit-remaining-${unit}`] = String(least.remaining);
    headers[`x-ratelimit-reset-${unit}`] = duration(least.resetMs);
  }
  return headers;
}
