/** Divides a period for reading: whole days and hours from the sums, the rest at its ends from ledger and log. */

import { dayMs, hourMs } from "../base/durations.ts";
import { callMsMax } from "./log-bounds.ts";

/** From one time up to another, which is not included. */
export interface Span {
  readonly from: Date;
  readonly to: Date;
}

export interface Segments {
  /** Whole hours: the period without its ends. Calls that the sums lack are read for these hours. */
  readonly whole: Span;
  readonly days: Span | undefined;
  readonly hours: readonly Span[];
  /** Parts of hours, each within a day, to be added (1) or subtracted (-1): whichever is shorter. */
  readonly ends: readonly (Span & { readonly sign: 1 | -1 })[];
  /** The rest of an hour in which a day begins: the sums have the whole hour in the day before. */
  readonly edges: readonly Span[];
}

const down = (ms: number, step: number): number => Math.floor(ms / step) * step;
const up = (ms: number, step: number): number => Math.ceil(ms / step) * step;
const span = (from: number, to: number): Span => ({ from: new Date(from), to: new Date(to) });
const notEmpty = ({ from, to }: Span): boolean => from < to;

export interface Dividing {
  /** True if whole days (UTC) may be read as such. */
  readonly byDay: boolean;
  /** Sums of earlier hours may lack counts that the log has: nothing is subtracted from them. */
  readonly wholeSince?: Date | undefined;
  /** The starts of days, which may be within an hour. */
  readonly starts?: readonly Date[] | undefined;
  /**
   * Earlier hours are not divided. In the first hours after it, the log may lack calls that began before the time up to which it was
   * deleted. The sums of those hours know more, so nothing is subtracted from them.
   */
  readonly splitSince?: Date | undefined;
}

/** Divides a period. */
export function divide(period: Span, dividing: Dividing): Segments {
  const { ends, ...rest } = divideByHour(period, dividing);
  const { starts = [], splitSince } = dividing;
  const edges = starts
    .map((start) => span(start.getTime(), up(start.getTime(), hourMs)))
    .filter(notEmpty)
    .filter(({ from, to }) => {
      const hour = to.getTime() - hourMs;
      const isSummed = hour >= rest.whole.from.getTime() && to <= rest.whole.to;
      const isKept = splitSince === undefined || hour >= splitSince.getTime();
      return isSummed && isKept && from >= period.from;
    });
  return { ...rest, ends: ends.flatMap((end) => cut(end, starts)), edges };
}

/** Cuts a part of an hour where a day begins in it. */
const cut = <Part extends Span>(part: Part, starts: readonly Date[]): Part[] => {
  const at = starts.find((start) => start > part.from && start < part.to);
  return at === undefined
    ? [part]
    : [
        { ...part, to: at },
        { ...part, from: at },
      ];
};

function divideByHour(
  { from, to }: Span,
  { byDay, wholeSince, splitSince }: Dividing,
): Omit<Segments, "edges"> {
  const [start, end] = [from.getTime(), to.getTime()];
  const [startHour, endHour] = [down(start, hourMs), down(end, hourMs)];
  const wholeMs = wholeSince?.getTime() ?? -Infinity;
  const loggedMs = splitSince === undefined ? -Infinity : splitSince.getTime() + callMsMax;
  const lacks = (hour: number): boolean => hour < Math.max(wholeMs, loggedMs);
  if (startHour === endHour && lacks(startHour))
    return {
      whole: span(startHour, startHour),
      days: undefined,
      hours: [],
      ends: [{ ...span(start, end), sign: 1 }],
    };
  const startsLate = start - startHour >= hourMs / 2 || (start > startHour && lacks(startHour));
  const endsLate = end - endHour > hourMs / 2 && !lacks(endHour);
  const first = startsLate ? startHour + hourMs : startHour;
  const last = endsLate ? endHour + hourMs : endHour;
  const ends = [
    startsLate
      ? { ...span(start, first), sign: 1 as const }
      : { ...span(first, start), sign: -1 as const },
    endsLate ? { ...span(end, last), sign: -1 as const } : { ...span(last, end), sign: 1 as const },
  ].filter(notEmpty);
  const [firstDay, lastDay] = [up(first, dayMs), down(last, dayMs)];
  const whole = span(first, last);
  if (!byDay || firstDay >= lastDay)
    return { whole, days: undefined, hours: [whole].filter(notEmpty), ends };
  const hours = [span(first, firstDay), span(lastDay, last)].filter(notEmpty);
  return { whole, days: span(firstDay, lastDay), hours, ends };
}
