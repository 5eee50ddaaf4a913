/** Times for reading, in the reader's zone; what is copied or hovered is RFC 3339 in UTC. */

const two = (value: number, width = 2): string => String(value).padStart(width, "0");
const dayOf = (time: Date): string =>
  `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;

/** "14:03:22.114", with the date in front where it is not the day of `now`. */
export function readTime(time: Date, now: Date): string {
  const clock = `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}.${two(time.getMilliseconds(), 3)}`;
  return dayOf(time) === dayOf(now) ? clock : `${dayOf(time)} ${clock}`;
}

/** "14:03", for what is about to happen. */
export const readMinute = (time: Date): string =>
  `${two(time.getHours())}:${two(time.getMinutes())}`;
