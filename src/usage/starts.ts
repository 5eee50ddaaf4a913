/** The starts of days and months in a time zone, whose offset may change within a period. docs/management.md. */
import type { Granularity } from "../base/management.ts";
import { clockOf } from "../base/time-zones.ts";
import type { Span } from "./segments.ts";

/**
 * Returns the starts of the days or months that a period touches, the first one at its start or before; undefined for other granularities.
 * `timeZone`: a name, or `+02:00`.
 */
export function startsOf(
  { from, to }: Span,
  granularity: Granularity,
  timeZone: string,
): readonly Date[] | undefined {
  if (granularity !== "day" && granularity !== "month") return undefined;
  const clock = clockOf(timeZone);
  const shown = new Date(clock.shownAt(from.getTime()));
  const [year, month, day] = [shown.getUTCFullYear(), shown.getUTCMonth(), shown.getUTCDate()];
  const starts: Date[] = [];
  for (let step = 0; ; step += 1) {
    const begin =
      granularity === "day" ? Date.UTC(year, month, day + step) : Date.UTC(year, month + step, 1);
    const start = clock.momentOf(begin);
    if (start >= to.getTime()) break;
    starts.push(new Date(start));
  }
  return starts;
}
