/** Prices of hours of the week, in UTC: which of them applies at a moment, and when that changes. docs/models.md "Prices by the hour". */
import { dayText, weekdays } from "../base/days.ts";
import type { HourlyPrice, PricedHours } from "./price-types.ts";

const minuteMs = 60_000;
const dayMs = 1_440 * minuteMs;

/** The minutes of the day at which a span such as `01:00-04:00` begins and ends. */
function spanOf(text: string): { readonly from: number; readonly to: number } {
  const [from, to] = text
    .split("-")
    .map((time) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3)));
  return { from: from!, to: to! };
}

/** True if the spans begin on the day of this moment. */
const beginOn = ({ days, except = [] }: PricedHours, ms: number): boolean =>
  (days?.includes(weekdays[new Date(ms).getUTCDay()]!) ?? true) && !except.includes(dayText(ms));

/** A span from 22:00 to 06:00 belongs to the day on which it begins. */
const include = (hours: PricedHours, nowMs: number): boolean =>
  hours.hoursUtc.some((text) => {
    const { from, to } = spanOf(text);
    const minute = (nowMs % dayMs) / minuteMs;
    const isFirstDay = from <= minute && (minute < to || to <= from) && beginOn(hours, nowMs);
    return isFirstDay || (to <= from && minute < to && beginOn(hours, nowMs - dayMs));
  });

/** The first hours of a price that include this moment. */
export const hoursAt = ({ hours }: HourlyPrice, nowMs: number): PricedHours | undefined =>
  hours?.find((each) => include(each, nowMs));

/** The next moment at which a span begins or ends, in Unix milliseconds; Infinity if the price has no hours. */
export function nextHoursMs({ hours = [] }: HourlyPrice, nowMs: number): number {
  const midnight = nowMs - (nowMs % dayMs);
  const moments = hours
    .flatMap(({ hoursUtc }) => hoursUtc.map(spanOf))
    .flatMap(({ from, to }) => [midnight + from * minuteMs, midnight + to * minuteMs]);
  return Math.min(Infinity, ...moments.map((ms) => (ms > nowMs ? ms : ms + dayMs)));
}
