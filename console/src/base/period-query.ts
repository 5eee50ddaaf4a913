/** Converts the period in a list's URL to API parameters. */
import { minuteMs } from "./durations.ts";
import { momentsIn, type PeriodSearch } from "./period.ts";

/**
 * Returns `from` and `to`; undefined ones are not sent. A rolling period begins at a full minute, so that the query stays the same for
 * a while.
 */
export function periodQuery({ period, from, to }: PeriodSearch, nowMs: number) {
  const moments = momentsIn(
    { ...(period && { period }), ...(from && { from }), ...(to && { to }) },
    new Date(Math.floor(nowMs / minuteMs) * minuteMs),
  );
  return { from: moments.from?.toISOString(), to: moments.to?.toISOString() };
}
