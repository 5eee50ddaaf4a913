/** The period of a key's usage: that of the URL, or the last 24 hours. */
import { gatewayMs } from "../../base/clock.ts";
import { minuteMs } from "../../base/durations.ts";
import { shownSpanOf, type PeriodSearch, type ShownSpan } from "../../base/period.ts";

export interface Period extends Pick<ShownSpan, "from" | "to" | "label" | "unread" | "isOpen"> {
  /** The shown period, as URL parameters of other pages. */
  readonly search: PeriodSearch;
}

export const fallback = "24h";

const thisMinuteMs = (): number => Math.floor(gatewayMs() / minuteMs) * minuteMs;

/** True if it is still the period of the URL: an open-ended period changes each minute. */
export const isStillOf = ({ isOpen, to }: Pick<Period, "isOpen" | "to">): boolean =>
  !isOpen || to.getTime() === thisMinuteMs();

/** Returns the period of the URL. One that ends now ends at the last full minute, so that the query stays the same for a while. */
export function periodOf(search: PeriodSearch): Period {
  const now = new Date(thisMinuteMs());
  const asked = Object.keys(search).length === 0 ? { period: fallback } : search;
  const { from, to, label, unread, isOpen, word } = shownSpanOf(asked, now);
  const said = word === undefined ? asked : { period: word };
  return { from, to, label, unread, isOpen, search: said };
}
