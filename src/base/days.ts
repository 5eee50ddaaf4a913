/** Days of the calendar in texts: JavaScript's dates take 30 February for 2 March. */

/** The day of a moment in UTC, `2027-01-31`. */
export const dayText = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** Whether a text begins with a day that there is, `2027-01-31`; what follows it is not looked at. */
export function hasDay(text: string): boolean {
  const day = text.slice(0, 10);
  const ms = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day);
}
