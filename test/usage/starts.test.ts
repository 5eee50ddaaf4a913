/** The starts of days and months that a period touches, in a time zone. docs/management.md. */
import { expect, it } from "vitest";
import { startsOf } from "../../src/usage/starts.ts";

const starts = (from: string, to: string, granularity: "day" | "hour" | "month", zone = "UTC") =>
  startsOf({ from: new Date(from), to: new Date(to) }, granularity, zone)?.map((start) =>
    start.toISOString().replace(":00.000Z", ""),
  );

it("a period has the starts from its first day or month on, and not the one at which it ends", () => {
  expect(starts("2026-11-01T00:00Z", "2026-11-03T00:00Z", "day")).toEqual([
    "2026-11-01T00:00",
    "2026-11-02T00:00",
  ]);
  expect(starts("2026-11-01T12:00Z", "2026-11-02T00:01Z", "day")).toEqual([
    "2026-11-01T00:00",
    "2026-11-02T00:00",
  ]);
  expect(starts("2026-11-30T00:00Z", "2027-01-01T00:00Z", "month")).toEqual([
    "2026-11-01T00:00",
    "2026-12-01T00:00",
  ]);
  expect(starts("2026-11-01T00:00Z", "2026-11-03T00:00Z", "hour")).toBeUndefined();
});

it("a day begins when its clock says so, also on the day on which that clock goes back", () => {
  expect(starts("2026-10-24T22:00Z", "2026-10-26T23:00Z", "day", "Europe/Berlin")).toEqual([
    "2026-10-24T22:00",
    "2026-10-25T23:00",
  ]);
  expect(starts("2026-11-01T00:00Z", "2026-11-02T00:00Z", "day", "Asia/Kolkata")).toEqual([
    "2026-10-31T18:30",
    "2026-11-01T18:30",
  ]);
});
