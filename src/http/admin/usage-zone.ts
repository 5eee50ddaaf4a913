/** The time zone of a usage query: `tz_offset`, or `time_zone` with daylight saving time. docs/management.md. */
import { Type } from "../../base/json-schema.ts";
import { invalidValue } from "../../base/errors.ts";
import { isTimeZone, isUtc } from "../../base/time-zones.ts";

/** Most days of one query with a zone, which is read hour by hour. */
export const zoneDaysMax = 31;

export const zoneQuery = {
  tz_offset: Type.Optional(
    Type.String({
      pattern: String.raw`^(-?([0-9]|1[0-2])|1[34])$`,
      description: `Whole hours that local time is ahead of UTC, -12 to 14: where days and months begin. At most ${zoneDaysMax} days.`,
    }),
  ),
  time_zone: Type.Optional(
    Type.String({
      pattern: "^[A-Za-z][A-Za-z0-9_+/-]{0,63}$",
      description: `The same by the name of a time zone, such as \`Europe/Berlin\`: a day on which clocks change has 23 or 25 hours. At most ${zoneDaysMax} days.`,
    }),
  ),
};

interface ZoneQuery {
  readonly tz_offset?: string | undefined;
  readonly time_zone?: string | undefined;
}

/** Returns the zone of a query, by its name or as `+02:00`; undefined means UTC. @throws GatewayError `invalid_value` */
export function zoneOf({ tz_offset: offset, time_zone: name }: ZoneQuery): string | undefined {
  if (name === undefined)
    return offset === undefined || Number(offset) === 0 ? undefined : offsetText(Number(offset));
  if (offset !== undefined)
    throw invalidValue("time_zone", "cannot be combined with `tz_offset`: send one of them");
  if (!isTimeZone(name))
    throw invalidValue("time_zone", "must be the name of a time zone, such as `Europe/Berlin`");
  return isUtc(name) ? undefined : name;
}

const offsetText = (hours: number): string =>
  `${hours < 0 ? "-" : "+"}${String(Math.abs(hours)).padStart(2, "0")}:00`;

/** Returns the parameter that a zone came from. */
export const zoneParam = (zone: string): keyof typeof zoneQuery =>
  /^[+-]/.test(zone) ? "tz_offset" : "time_zone";
