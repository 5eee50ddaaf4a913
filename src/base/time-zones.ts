/** Local clocks by time zone name. Uses Intl, because the oldest supported Node has no Temporal. */

import { dayMs, hourMs } from "./durations.ts";
/** True if it is the name of a time zone, such as `Europe/Berlin`. */
export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/** True if it is a usual name of UTC. */
export const isUtc = (name: string): boolean => /^(?:etc\/)?(?:utc|gmt)$/i.test(name);

export interface LocalClock {
  /** Returns the local time at a moment, as the milliseconds at which UTC shows the same time. */
  shownAt(ms: number): number;
  /** Returns the first moment at which the clocks show that time, or skip it. */
  momentOf(shownMs: number): number;
}

/** Returns a function for the offset from UTC at a moment, in ms. `timeZone`: a name, or `+02:00`. */
function aheadIn(timeZone: string): (ms: number) => number {
  const [, sign, hours] = /^([+-])(\d\d):00$/.exec(timeZone) ?? [];
  if (hours !== undefined) {
    const ahead = Number(`${sign!}${hours}`) * hourMs;
    return () => ahead;
  }
  const format = new Intl.DateTimeFormat("en", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  return (ms) => {
    const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
    const of = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type)!;
    const shown = Date.UTC(
      of("year"),
      of("month") - 1,
      of("day"),
      of("hour"),
      of("minute"),
      of("second"),
    );
    return shown - Math.floor(ms / 1000) * 1000;
  };
}

/** Returns the clock of a time zone: a name, or `+02:00`. */
export function clockOf(timeZone: string): LocalClock {
  const ahead = aheadIn(timeZone);
  return {
    shownAt: (ms) => ms + ahead(ms),
    momentOf(shownMs) {
      // Try the offsets of a day before and a day after: one of them is right, or both skip that time.
      const before = shownMs - ahead(shownMs - dayMs);
      const after = shownMs - ahead(shownMs + dayMs);
      const right = [before, after].filter((ms) => ms + ahead(ms) === shownMs);
      return right.length === 0 ? before : Math.min(...right);
    },
  };
}
