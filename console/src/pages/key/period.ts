/** The period of a key's use: that of the address, or the last 24 hours. */
import { gatewayMs } from "../../base/clock.ts";
import { minuteMs } from "../../base/durations.ts";
import { shownOf, type PeriodSearch, type Shown } from "../../base/period.ts";

export interface Period extends Pick<Shown, "from" | "to" | "label" | "unread" | "isOpen"> {
  /** What is shown, as addresses of other pages say it. */
  readonly search: PeriodSearch;
}

export const fallback = "24h";

const thisMinuteMs = (): number => Math.floor(gatewayMs() / minuteMs) * minuteMs;

/** Whether it is still the period that its address says: one that goes on is another one each minute. */
export const isStillOf = ({ isOpen, to }: Pick<Period, "isOpen" | "to">): boolean =>
  !isOpen || to.getTime() === thisMinuteMs();

/** Ends at the full minute where it ends now, so that what is asked for stays the same for a while. */
export function periodOf(search: PeriodSearch): Period {
  const now = new Date(thisMinuteMs());
  const asked = Object.keys(search).length === 0 ? { period: fallback } : search;
  const { from, to, label, unread, isOpen, word } = shownOf(asked, now);
  const said = word === undefined ? asked : { period: word };
  return { from, to, label, unread, isOpen, search: said };
}
