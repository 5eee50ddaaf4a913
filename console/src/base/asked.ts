/** The period of a list's address as the API is asked for it. */
import { minuteMs } from "./durations.ts";
import { momentsIn, type PeriodSearch } from "./period.ts";

/** `from` and `to`; what is undefined is not sent. A period that ends now begins at the full minute, so that what is asked for stays the same for a while. */
export function askedIn({ period, from, to }: PeriodSearch, nowMs: number) {
  const moments = momentsIn(
    { ...(period && { period }), ...(from && { from }), ...(to && { to }) },
    new Date(Math.floor(nowMs / minuteMs) * minuteMs),
  );
  return { from: moments.from?.toISOString(), to: moments.to?.toISOString() };
}
