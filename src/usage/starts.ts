/** Where the days and months of a place begin, whose clocks may change within a period. docs/management.md. */
import { hourMs, minuteMs } from "../base/durations.ts";
import { GatewayError } from "../base/errors.ts";
import type { Granularity } from "../base/management.ts";
import { clockOf } from "../base/time-zones.ts";
import type { Span } from "./segments.ts";

/**
 * The beginnings of the days or months that a period touches, the first one at its start or before it; undefined where they are
 * those of UTC. `timeZone`: a name, or `+02:00`. @throws GatewayError `invalid_value` where a day does not begin with an hour of UTC
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
  const within = starts.find((start) => start.getTime() % hourMs !== 0);
  if (within === undefined) return starts;
  const hours = Math.round((shown.getTime() - from.getTime()) / hourMs);
  const minutes = Math.abs(shown.getTime() - from.getTime() - hours * hourMs) / minuteMs;
  throw new GatewayError(
    "invalid_value",
    `Days in ${timeZone} begin at ${within.toISOString().slice(11, 16)} UTC, and usage is summed by hour. Ask for \`granularity=total\` with \`from\` and \`to\` of each day, or for \`tz_offset=${hours}\`, whose days begin ${minutes} minutes off.`,
    { param: "time_zone" },
  );
}
