/** Where the days and months of a place begin, whose clocks may change within a period. docs/management.md. */
import { GatewayError } from "../base/errors.ts";
import type { Granularity } from "../base/management.ts";
import type { Span } from "./segments.ts";

const hourMs = 3_600_000;

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
  const first = Temporal.Instant.fromEpochMilliseconds(from.getTime()).toZonedDateTimeISO(timeZone);
  const step = granularity === "day" ? { days: 1 } : { months: 1 };
  const starts: Date[] = [];
  let next = (granularity === "day" ? first : first.with({ day: 1 })).startOfDay();
  for (; next.epochMilliseconds < to.getTime(); next = next.add(step).startOfDay())
    starts.push(new Date(next.epochMilliseconds));
  if (starts.every((start) => start.getTime() % hourMs === 0)) return starts;
  throw new GatewayError(
    "invalid_value",
    `In ${timeZone} days begin within an hour of UTC, and usage is summed by hour. Ask for \`granularity=total\` with \`from\` and \`to\` of each day.`,
    { param: "time_zone" },
  );
}
