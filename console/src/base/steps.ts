/** The hours, days and months of a drawing as they are read beside it; of UTC. Pure. */
import { endOf, readStart, startsOf, type Span, type Step } from "./period.ts";

/** The beginning of a step where it stands alone: an hour has its day, since a period of hours may have the same one twice. */
export const readPlace = (start: string, step: Step): string =>
  step === "hour" ? `${readStart(start, "day")} ${readStart(start, step)}` : readStart(start, step);

/** The same below a chart: midnight is where a day begins. */
export const readTick = (start: string, step: Step): string =>
  readStart(start, step === "hour" && start.slice(11, 16) === "00:00" ? "day" : step);

const readMinute = (time: Date): string => time.toISOString().slice(11, 16);

/** That the first or the last hour, day or month of a drawing is not whole, in words; "" where both are. */
export function cutOf({ from, to }: Span, step: Step): string {
  const starts = startsOf({ from, to }, step);
  const [first, last] = [starts[0], starts.at(-1)];
  if (first === undefined || last === undefined) return "";
  const [isFirst, isLast] = [new Date(first) < from, endOf(last, step) > to];
  const when = (time: Date) =>
    step === "month"
      ? `${readStart(time.toISOString(), "day")} ${readMinute(time)}`
      : readMinute(time);
  const begin = `the first ${step} is from ${when(from)} on`;
  const end = `the last ${step} is up to ${when(to)}`;
  const parts = [...(isFirst ? [begin] : []), ...(isLast ? [end] : [])].join(", ");
  return parts === "" ? "" : `${parts[0]!.toUpperCase()}${parts.slice(1)} (UTC).`;
}
