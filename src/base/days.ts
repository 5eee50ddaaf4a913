/** Calendar days in texts. JavaScript's `Date` accepts 30 February as 2 March. */

/** Returns the UTC day of a time, `2027-01-31`. */
export const dayText = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** True if a text begins with an existing day, `2027-01-31`; the rest is ignored. */
export function hasDay(text: string): boolean {
  const day = text.slice(0, 10);
  const ms = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day);
}
