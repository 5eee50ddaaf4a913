/** The chart of calls above the log: its period, its steps, and its query. Pure. */
import { readCount } from "../../base/numbers.ts";
import { dayMs, minuteMs } from "../../base/durations.ts";
import { momentsIn, type Span } from "../../base/period.ts";
import { endOf, readStart, startsOf, type Step } from "../../base/steps.ts";
import { filterNames, type Filters } from "./filters.ts";

const failed = "failed,expired";

/** Usage sums cannot apply these filters: with any of them there is no chart. */
const unknown = ["asked", "q", "cost", "slower", "changed", "tag", "user", "http", "code"] as const;

export interface Shape extends Span {
  readonly step: Step;
  readonly starts: readonly string[];
  /** Counts only failed calls. */
  readonly isFailed: boolean;
}

function stepOf({ from, to }: Span): Step {
  const length = to.getTime() - from.getTime();
  if (length <= 8 * dayMs) return "hour";
  return length <= 100 * dayMs ? "day" : "month";
}

/** The period of the filters, or one day before its end. Undefined if usage sums cannot express the filters. */
export function shapeOf(filters: Filters, now: Date): Shape | undefined {
  if (unknown.some((name) => filters[name] !== undefined)) return undefined;
  const { status, period, from, to } = filters;
  if (status?.includes(",") === true && status !== failed) return undefined;
  const minute = new Date(Math.floor(now.getTime() / minuteMs) * minuteMs);
  const moments = momentsIn(
    { ...(period && { period }), ...(from && { from }), ...(to && { to }) },
    minute,
  );
  // Includes the calls of this minute.
  const end = moments.to ?? new Date(minute.getTime() + minuteMs);
  const span = { from: moments.from ?? new Date(end.getTime() - dayMs), to: end };
  if (span.from >= span.to) return undefined;
  const step = stepOf(span);
  return { ...span, step, starts: startsOf(span, step), isFailed: status === failed };
}

/** The query of `GET /usage`; undefined values are not sent. */
export const stripQuery = (filters: Filters, { from, to, step, isFailed }: Shape) => ({
  from: from.toISOString(),
  to: to.toISOString(),
  granularity: step,
  workspace_id: filters.ws,
  key_id: filters.key,
  member_id: filters.member,
  model: filters.model,
  provider: filters.provider,
  protocol: filters.protocol,
  status: isFailed ? undefined : filters.status,
});

const times: ReadonlySet<string> = new Set(["period", "from", "to"]);

/** The overview parameters for the same calls; undefined if the overview cannot be filtered like the log. */
export function overviewOf(filters: Filters, { from, to }: Span): Filters | undefined {
  const { ws, period } = filters;
  const isNarrowed = filterNames.some((name) => !times.has(name) && filters[name] !== undefined);
  if (isNarrowed) return undefined;
  const isOpen = filters.from === undefined && filters.to === undefined;
  const time = isOpen
    ? { period: period ?? "24h" }
    : { from: from.toISOString(), to: to.toISOString() };
  return { ...(ws !== undefined && { ws }), ...time };
}

export interface Bar {
  readonly start: string;
  readonly calls: number;
  readonly failed: number;
}

interface Counted {
  readonly start: string;
  readonly requests: number;
  readonly errors: number;
}

/** One bar for each step, in order, including those without calls. */
export function barsOf(rows: readonly Counted[], { starts, isFailed }: Shape): Bar[] {
  const of = new Map(rows.map((row) => [row.start, row]));
  return starts.map((start) => {
    const { requests = 0, errors = 0 } = of.get(start) ?? {};
    return { start, calls: isFailed ? errors : requests, failed: errors };
  });
}

/** The time from the start of one step to the end of another, within the chart's period. */
export function spanBetween({ starts, step, from, to }: Shape, one: number, other: number) {
  const [first, last] = [starts[Math.min(one, other)]!, starts[Math.max(one, other)]!];
  const begin = Math.max(Date.parse(first), from.getTime());
  const end = Math.min(endOf(last, step).getTime(), to.getTime());
  return { from: new Date(begin).toISOString(), to: new Date(end).toISOString() };
}

const dayOf = (start: string): string => readStart(start, "day");

/** Describes a range of steps: "22 Nov 14:00 to 16:00", or "16 Nov to 22 Nov". */
function whenOf(first: string, last: string, step: Step): string {
  const begin = readStart(first, step);
  if (step !== "hour") return first === last ? begin : `${begin} to ${readStart(last, step)}`;
  const end = endOf(last, step).toISOString();
  const endDay = dayOf(end) === dayOf(first) ? "" : `${dayOf(end)} `;
  return `${dayOf(first)} ${begin} to ${endDay}${readStart(end, step)}`;
}

/** Describes the calls of a range of steps. */
export function wordsOf(bars: readonly Bar[], step: Step, one: number, other: number): string {
  const [low, high] = [Math.min(one, other), Math.max(one, other)];
  const part = bars.slice(low, high + 1);
  const first = part[0];
  const last = part.at(-1);
  if (first === undefined || last === undefined) return "";
  const sum = (of: (bar: Bar) => number) => part.reduce((all, bar) => all + of(bar), 0);
  const [calls, failed] = [sum((bar) => bar.calls), sum((bar) => bar.failed)];
  const when = whenOf(first.start, last.start, step);
  return `${when} (UTC): ${readCount(calls)} ${calls === 1 ? "call" : "calls"}, ${readCount(failed)} failed`;
}
