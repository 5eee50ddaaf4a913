/** The clocks of time zones, compared with Temporal, which the oldest supported Node lacks. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { clockOf, isTimeZone } from "../../src/base/time-zones.ts";

const places = [
  "Europe/Berlin",
  "America/New_York",
  // Zones where clocks are put forward at midnight.
  "America/Santiago",
  "Asia/Beirut",
  // Clocks are put back at midnight, which occurs twice.
  "America/Havana",
  "Africa/Casablanca",
  "Asia/Kolkata",
  "Australia/Lord_Howe",
  "Pacific/Auckland",
  "+05:00",
  "-12:00",
];
const [from, to] = [Date.UTC(2015, 0, 1), Date.UTC(2035, 0, 1)];

it("a day begins at its local start, also where clocks skip midnight or repeat it", () => {
  fc.assert(
    fc.property(fc.constantFrom(...places), fc.integer({ min: from, max: to }), (place, ms) => {
      const there = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(place);
      const clock = clockOf(place);
      const shown = clock.shownAt(ms);
      expect(new Date(shown).toISOString().slice(0, -1)).toBe(
        there.toPlainDateTime().toString({ smallestUnit: "millisecond" }),
      );
      const midnight = Math.floor(shown / 86_400_000) * 86_400_000;
      expect({ place, ms, begins: clock.momentOf(midnight) }).toEqual({
        place,
        ms,
        begins: there.startOfDay().epochMilliseconds,
      });
    }),
    { numRuns: 3_000 },
  );
  const every = Array.from({ length: 5_000 }, (_, day) => from + day * 86_400_000);
  for (const place of ["America/Santiago", "America/Havana", "Asia/Beirut"])
    for (const midnight of every) {
      const day = Temporal.PlainDate.from(new Date(midnight).toISOString().slice(0, 10));
      const begins = day.toZonedDateTime(place).epochMilliseconds;
      expect({ day: String(day), begins: clockOf(place).momentOf(midnight) }).toEqual({
        day: String(day),
        begins,
      });
    }
}, 60_000);

it("names of time zones are recognised", () => {
  expect(["Europe/Berlin", "UTC", "Mars/Olympus", ""].map(isTimeZone)).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
