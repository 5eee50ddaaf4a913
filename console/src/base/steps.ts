/** The hours, days and months of a chart, and their labels, in UTC. Pure. */
import { dayMs, hourMs } from "./durations.ts";
import { lengthOf, monthOf, type Span } from "./period.ts";

export type Step = "hour" | "day" | "month";

/** The resolution of a period's chart: at most a few hundred bars. */
export function stepOf(one: Span): Step {
  if (lengthOf(one) <= 2 * dayMs) return "hour";
  return lengthOf(one) <= 100 * dayMs ? "day" : "month";
}

const stepsMax = 1_000;

/** The starts of all hours, days or months that overlap a period, including the first, which may begin before it. */
export function startsOf({ from, to }: Span, step: Step): string[] {
  const starts: string[] = [];
  const size = step === "hour" ? hourMs : dayMs;
  let at = step === "month" ? monthOf(from) : Math.floor(from.getTime() / size) * size;
  while (at < to.getTime() && starts.length < stepsMax) {
    starts.push(new Date(at).toISOString());
    at = step === "month" ? monthOf(new Date(at), 1) : at + size;
  }
  return starts;
}

/** The end of the hour, day or month that starts at `start`. */
export const endOf = (start: string, step: Step): Date =>
  step === "month"
    ? new Date(monthOf(new Date(start), 1))
    : new Date(Date.parse(start) + (step === "hour" ? hourMs : dayMs));

const months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

/** "16 Nov", "14:00" or "Nov 2026", in UTC. */
export function readStart(start: string, step: Step): string {
  const time = new Date(start);
  const month = months[time.getUTCMonth()]!;
  if (step === "month") return `${month} ${time.getUTCFullYear()}`;
  return step === "day" ? `${time.getUTCDate()} ${month}` : start.slice(11, 16);
}

/** The label of a step outside a chart. An hour includes its day, because a period may contain the same hour twice. */
export const readPlace = (start: string, step: Step): string =>
  step === "hour" ? `${readStart(start, "day")} ${readStart(start, step)}` : readStart(start, step);

/** The tick label below a chart: midnight shows the day. */
export const readTick = (start: string, step: Step): string =>
  readStart(start, step === "hour" && start.slice(11, 16) === "00:00" ? "day" : step);

const readMinute = (time: Date): string => time.toISOString().slice(11, 16);

/** States that the first or last hour, day or month of a chart is partial; "" if both are whole. */
export function cutOf({ from, to }: Span, step: Step): string {
  const starts = startsOf({ from, to }, step);
  const [first, last] = [starts[0], starts.at(-1)];
  if (first === undefined || last === undefined) return "";
  const [isFirst, isLast] = [new Date(first) < from, endOf(last, step) > to];
  const when = (time: Date) =>
    step === "month"
      ? `${readStart(time.toISOString(), "day")} ${readMinute(time)}`
      : readMinute(time);
  const begin = `the first ${step} begins at ${when(from)}`;
  const end = `the last ${step} ends at ${when(to)}`;
  const parts = [...(isFirst ? [begin] : []), ...(isLast ? [end] : [])].join(", ");
  return parts === "" ? "" : `${parts[0]!.toUpperCase()}${parts.slice(1)} (UTC).`;
}
