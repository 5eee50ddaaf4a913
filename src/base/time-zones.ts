/** The clocks of a place, by the name of its time zone. By Intl, because the oldest Node that the package runs on has no Temporal. */

import { dayMs, hourMs } from "./durations.ts";
/** Whether it is the name of a time zone, such as `Europe/Berlin`. */
export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/** Whether it is a usual name of UTC. */
export const isUtc = (name: string): boolean => /^(?:etc\/)?(?:utc|gmt)$/i.test(name);

export interface LocalClock {
  /** What the clocks show at a moment, as milliseconds of a calendar in UTC. */
  shownAt(ms: number): number;
  /** The first moment at which they show that, or jump over it. */
  momentOf(shownMs: number): number;
}

/** By how much the clocks are ahead of UTC at a moment. `timeZone`: a name, or `+02:00`. */
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

/** The clocks of a place. `timeZone`: a name, or `+02:00`. */
export function clockOf(timeZone: string): LocalClock {
  const ahead = aheadIn(timeZone);
  return {
    shownAt: (ms) => ms + ahead(ms),
    momentOf(shownMs) {
      // By the clocks of a day before and a day after: one of them is right, or both jump over it at that moment.
      const before = shownMs - ahead(shownMs - dayMs);
      const after = shownMs - ahead(shownMs + dayMs);
      const right = [before, after].filter((ms) => ms + ahead(ms) === shownMs);
      return right.length === 0 ? before : Math.min(...right);
    },
  };
}
