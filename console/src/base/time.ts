/** Formats times in UTC or the reader's time zone; copied and hovered times are RFC 3339 in UTC. */
import { minuteMs } from "./durations.ts";
import { gatewayNow } from "./clock.ts";

export type Zone = "utc" | "local";

let zone: Zone = "local";

/** Sets the time zone for display. */
export function readIn(chosen: Zone): void {
  zone = chosen;
}

interface Parts {
  readonly year: number;
  /** From 0. */
  readonly month: number;
  readonly date: number;
  readonly hours: number;
  readonly minutes: number;
}

const partsOf = (time: Date): Parts =>
  zone === "utc"
    ? {
        year: time.getUTCFullYear(),
        month: time.getUTCMonth(),
        date: time.getUTCDate(),
        hours: time.getUTCHours(),
        minutes: time.getUTCMinutes(),
      }
    : {
        year: time.getFullYear(),
        month: time.getMonth(),
        date: time.getDate(),
        hours: time.getHours(),
        minutes: time.getMinutes(),
      };

const two = (value: number, width = 2): string => String(value).padStart(width, "0");
function dayOf(time: Date): string {
  const { year, month, date } = partsOf(time);
  return `${year}-${two(month + 1)}-${two(date)}`;
}

/** True if two times are on the same day in the display zone. */
export const isSameDay = (one: Date, other: Date): boolean => dayOf(one) === dayOf(other);

/** "14:03:22.114", with the date in front if it is not the day of `now`. */
export function readTime(time: Date, now = gatewayNow()): string {
  const clock = `${readClock(time)}.${two(time.getMilliseconds(), 3)}`;
  return isSameDay(time, now) ? clock : `${dayOf(time)} ${clock}`;
}

const months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

/** For a narrow column: "14:03:22.114"; on another day "22 Nov 14:03:22"; in another year "22 Nov 2025". */
export function readInColumn(time: Date, now: Date): string {
  if (isSameDay(time, now)) return readTime(time, now);
  const { date, month, year } = partsOf(time);
  const day = `${date} ${months[month]}`;
  return year === partsOf(now).year ? `${day} ${readClock(time)}` : `${day} ${year}`;
}

/** "14:03:22", for data shown as of that time. */
export const readClock = (time: Date): string => `${readMinute(time)}:${two(time.getSeconds())}`;

/** "14:03", for upcoming events. */
export function readMinute(time: Date): string {
  const { hours, minutes } = partsOf(time);
  return `${two(hours)}:${two(minutes)}`;
}

/** "14:03", or on another day "2 Dec 14:03", for times that may be days away. */
export function readMoment(time: Date, now = gatewayNow()): string {
  if (isSameDay(time, now)) return readMinute(time);
  const { date, month } = partsOf(time);
  return `${date} ${months[month]} ${readMinute(time)}`;
}

/** Reformats times in gateway messages, such as "paused until 2026-12-02T14:03:00.000Z". */
export const readMomentsIn = (words: string): string =>
  words.replaceAll(/\d{4}-\d{2}-\d{2}T[\d:.]+Z/g, (moment) => readMoment(new Date(moment)));

/** "in 5 h 12 m", "in 3 d 2 h": the time until a future moment. */
export function readUntil(time: Date, now = gatewayNow()): string {
  const minutes = Math.max(0, Math.ceil((time.getTime() - now.getTime()) / minuteMs));
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24];
  if (days > 0) return `in ${days} d ${hours} h`;
  return hours > 0 ? `in ${hours} h ${minutes % 60} m` : `in ${minutes} m`;
}

/** "2 m ago", "3 d ago": the time since a past moment; only for last use. */
export function readAgo(time: Date, now = gatewayNow()): string {
  const minutes = Math.floor((now.getTime() - time.getTime()) / minuteMs);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} m ago`;
  return minutes < 1440
    ? `${Math.floor(minutes / 60)} h ago`
    : `${Math.floor(minutes / 1440)} d ago`;
}
