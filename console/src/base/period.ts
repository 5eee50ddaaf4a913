/**
 * The period in the URL: a word (`period`), or two times (`from`, and `to`, which is exclusive). Days, weeks and months are in UTC.
 * Every page uses the same rules.
 */

import { dayMs } from "./durations.ts";
export interface PeriodSearch {
  readonly period?: string;
  readonly from?: string;
  readonly to?: string;
}

/** From a time up to another, exclusive. */
export interface Span {
  readonly from: Date;
  readonly to: Date;
}

interface Period {
  readonly label: string;
  /** Label of the comparison period, after "than". */
  readonly before: string;
  readonly span: (now: Date) => Span;
  readonly spanBefore: (span: Span) => Span;
}

const weekMs = 7 * dayMs;

const span = (from: number, to: number): Span => ({ from: new Date(from), to: new Date(to) });
export const lengthOf = ({ from, to }: Span): number => to.getTime() - from.getTime();
const justBefore = (one: Span): Span =>
  span(one.from.getTime() - lengthOf(one), one.from.getTime());

/** The first day of a month, `by` months after that of `time`, in ms since 1970. */
export const monthOf = (time: Date, by = 0): number =>
  Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + by, 1);

/** The first day of the month before that of `time`. */
export const monthBefore = (time: Date): Date => new Date(monthOf(time, -1));

/** The first day of the month after that of `time`. */
export const monthAfter = (time: Date): Date => new Date(monthOf(time, 1));

/** The midnight at or before a time, in ms since 1970. */
const dayOf = (time: Date): number => Math.floor(time.getTime() / dayMs) * dayMs;

const mondayOf = (time: Date): number => dayOf(time) - ((time.getUTCDay() + 6) % 7) * dayMs;

const rolling = (label: string, before: string, ms: number): Period => ({
  label,
  before,
  span: (now) => span(now.getTime() - ms, now.getTime()),
  spanBefore: justBefore,
});

/** The periods, by their word in the URL. */
const periods: ReadonlyMap<string, Period> = new Map([
  [
    "today",
    {
      label: "Today (UTC)",
      before: "yesterday up to the same time",
      span: (now) => span(dayOf(now), now.getTime()),
      spanBefore: ({ from, to }) => span(from.getTime() - dayMs, to.getTime() - dayMs),
    },
  ],
  [
    "yesterday",
    {
      label: "Yesterday (UTC)",
      before: "the day before",
      span: (now) => span(dayOf(now) - dayMs, dayOf(now)),
      spanBefore: justBefore,
    },
  ],
  ["24h", rolling("Last 24 hours", "the 24 hours before", dayMs)],
  ["7d", rolling("Last 7 days", "the 7 days before", weekMs)],
  ["30d", rolling("Last 30 days", "the 30 days before", 30 * dayMs)],
  ["90d", rolling("Last 90 days", "the 90 days before", 90 * dayMs)],
  [
    "last-week",
    {
      label: "Last week",
      before: "the week before",
      span: (now) => span(mondayOf(now) - weekMs, mondayOf(now)),
      spanBefore: justBefore,
    },
  ],
  [
    "month",
    {
      label: "This month",
      before: "the month before up to the same time",
      span: (now) => span(monthOf(now), now.getTime()),
      spanBefore: (one) => {
        const begin = monthOf(one.from, -1);
        return span(begin, Math.min(begin + lengthOf(one), one.from.getTime()));
      },
    },
  ],
  [
    "last-month",
    {
      label: "Last month",
      before: "the month before",
      span: (now) => span(monthOf(now, -1), monthOf(now)),
      spanBefore: ({ from }) => span(monthOf(from, -1), from.getTime()),
    },
  ],
]);

export const periodWords: readonly string[] = [...periods.keys()];
export const periodChoices = [...periods].map(([value, { label }]) => ({ value, label }));

/** Lowercases a label for use in a sentence: "yesterday (UTC)". */
export const inSentence = (label: string): string => label.charAt(0).toLowerCase() + label.slice(1);

const timeShape = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;
const timeOf = (text: string | undefined): Date | undefined =>
  text !== undefined && timeShape.test(text) && !Number.isNaN(Date.parse(text))
    ? new Date(text)
    : undefined;

/** True if a text from the URL is a valid time. */
export const isTime = (text: string): boolean => timeOf(text) !== undefined;

/** The valid ones of `from` and `to`. Neither if the period between them is empty. */
function momentsOf({ from, to }: PeriodSearch): { from?: Date; to?: Date } {
  const [begin, end] = [timeOf(from), timeOf(to)];
  if (begin !== undefined && end !== undefined && begin >= end) return {};
  return { ...(begin && { from: begin }), ...(end && { to: end }) };
}

/** Without the times of a period that ends before it begins: a list would ignore them, and the URL shall not say otherwise. */
export function inOrder<Fields extends PeriodSearch>(fields: Fields): Fields {
  const [from, to] = [timeOf(fields.from), timeOf(fields.to)];
  const isReversed = from !== undefined && to !== undefined && from >= to;
  return isReversed ? { ...fields, from: undefined, to: undefined } : fields;
}

/** The start and end of a list's period, each if set; times take precedence over the word. A period that ends now has no end. */
export function momentsIn(search: PeriodSearch, now: Date): { from?: Date; to?: Date } {
  const moments = momentsOf(search);
  const period = periods.get(search.period ?? "");
  if (moments.from !== undefined || moments.to !== undefined || period === undefined)
    return moments;
  const { from, to } = period.span(now);
  return to.getTime() === now.getTime() ? { from } : { from, to };
}

export interface ShownSpan extends Span {
  readonly label: string;
  /** Its word in the URL; undefined if two times define it. */
  readonly word: string | undefined;
  /** The comparison period, and its label. */
  readonly before: Span;
  readonly beforeLabel: string;
  /** True if the URL contains an invalid period. */
  readonly unread: boolean;
  /** True if it ends now, so it is still growing. */
  readonly isOpen: boolean;
}

const fallback = "7d";

/** The period of a page that always has one: by default the last seven days. */
export function shownSpanOf(search: PeriodSearch, now: Date): ShownSpan {
  const { from, to } = momentsOf(search);
  const end = to ?? now;
  const asked = [search.period, search.from, search.to].filter((text) => text !== undefined);
  if (from !== undefined && from < end) {
    const chosen = { from, to: end };
    const unread = search.to !== undefined && to === undefined;
    const names = {
      label: "Chosen days",
      beforeLabel: "the same length of time before",
      word: undefined,
    };
    const isOpen = end.getTime() === now.getTime();
    return { ...chosen, ...names, unread, isOpen, before: justBefore(chosen) };
  }
  const word = periods.has(search.period ?? "") ? search.period! : fallback;
  const period = periods.get(word)!;
  const chosen = period.span(now);
  return {
    ...chosen,
    word,
    label: period.label,
    before: period.spanBefore(chosen),
    beforeLabel: period.before,
    isOpen: chosen.to.getTime() === now.getTime(),
    unread: asked.length > 0 && !(asked.length === 1 && periods.has(search.period ?? "")),
  };
}
