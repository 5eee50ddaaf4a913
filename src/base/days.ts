/** Calendar days in texts. JavaScript's `Date` accepts 30 February as 2 March. */

/** Returns the UTC day of a time, `2027-01-31`. */
export const dayText = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** True if a text begins with an existing day, `2027-01-31`; the rest is ignored. */
export function hasDay(text: string): boolean {
  const day = text.slice(0, 10);
  const ms = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day);
}

/**
 * Returns the moment of an existing time, `2027-01-31T00:00:00+02:00`; else undefined. `9999-12-31T23:00-14:00` is in the year 10000,
 * which RFC 3339 cannot write.
 */
export function existingTime(text: string): Date | undefined {
  const time = new Date(text);
  if (!hasDay(text) || Number.isNaN(time.getTime())) return undefined;
  const year = time.getUTCFullYear();
  return year >= 0 && year <= 9999 ? time : undefined;
}

/** The days of the week as the configuration writes them, in the order of JavaScript. */
export const weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] as const;
export type Weekday = (typeof weekdays)[number];
