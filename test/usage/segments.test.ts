/** How a period is divided for reading: each moment of it is read once, from sums or from the log. docs/management.md. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { divide, type Dividing, type Span } from "../../src/usage/segments.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const midnight = Date.parse("2026-11-30T00:00Z");
const span = (from: number, to: number): Span => ({ from: new Date(from), to: new Date(to) });
const holds = ({ from, to }: Span, ms: number): boolean =>
  from.getTime() <= ms && ms < to.getTime();
const lengthOf = ({ from, to }: Span): number => to.getTime() - from.getTime();
const at = (time: string): Date => new Date(`2026-11-30T${time}Z`);

/** Periods of up to three days, from and to whole five minutes. */
const period = fc
  .tuple(fc.nat(12 * 24), fc.integer({ min: 1, max: 3 * 12 * 24 }))
  .map(([from, length]) => {
    const start = midnight + from * 5 * minute;
    return span(start, start + length * 5 * minute);
  });
const sometimes = fc.option(
  fc.nat(3 * 24).map((hours) => new Date(midnight + hours * hour)),
  { nil: undefined },
);

/** How often a moment is read: once added, and once less for each part that is subtracted. */
const readsOf = ({ days, hours, ends }: ReturnType<typeof divide>, ms: number): number =>
  [...(days ? [days] : []), ...hours].filter((part) => holds(part, ms)).length +
  ends.filter((part) => holds(part, ms)).reduce((sum, { sign }) => sum + sign, 0);

describe("a divided period", () => {
  it("has each of its moments once, and no other", () => {
    fc.assert(
      fc.property(
        period,
        fc.boolean(),
        sometimes,
        sometimes,
        (asked, byDay, wholeSince, splitSince) => {
          const parts = divide(asked, { byDay, wholeSince, splitSince });
          for (let ms = midnight - hour; ms < midnight + 5 * day; ms += 5 * minute)
            expect([ms, readsOf(parts, ms)]).toEqual([ms, holds(asked, ms) ? 1 : 0]);
        },
      ),
      { numRuns: 100 },
    );
  });

  it("reads days as such only where they are whole, and hours of the rest", () => {
    const asked = span(midnight + 90 * minute, midnight + 2 * day + 30 * minute);
    const parts = divide(asked, { byDay: true });
    expect(parts.days).toEqual(span(midnight + day, midnight + 2 * day));
    expect(parts.hours).toEqual([span(midnight + 2 * hour, midnight + day)]);
    expect(divide(asked, { byDay: false })).toMatchObject({
      days: undefined,
      hours: [span(midnight + 2 * hour, midnight + 2 * day)],
    });
    expect(divide(span(midnight, midnight + 23 * hour), { byDay: true }).days).toBeUndefined();
  });

  it("adds or subtracts the shorter part of an hour, and adds at half past", () => {
    const endsOf = (from: string, to: string, dividing: Partial<Dividing> = {}) =>
      divide({ from: at(from), to: at(to) }, { byDay: false, ...dividing }).ends.map(
        ({ sign, ...part }) => (sign * lengthOf(part)) / minute,
      );
    expect(endsOf("01:29", "05:31")).toEqual([-29, -29]);
    expect(endsOf("01:30", "05:30")).toEqual([30, 30]);
    expect(endsOf("01:31", "05:29")).toEqual([29, 29]);
    expect(endsOf("01:00", "05:00")).toEqual([]);
    // Sums that lack something are not subtracted from.
    const lacking = { wholeSince: at("05:00") };
    expect(endsOf("01:10", "04:50", lacking)).toEqual([50, 50]);
    expect(endsOf("01:00", "04:50", lacking)).toEqual([50]);
    expect(endsOf("05:10", "07:50", lacking)).toEqual([-10, -10]);
    expect(endsOf("01:10", "01:50", lacking)).toEqual([40]);
    expect(endsOf("01:10", "01:50")).toEqual([-10, -10]);
  });

  it("has no part of an hour in which a day begins inside", () => {
    const starts = [at("01:30"), at("04:45")];
    const { ends } = divide({ from: at("01:10"), to: at("04:50") }, { byDay: false, starts });
    const parts = ends.map(({ from, to, sign }) => [
      from.toISOString().slice(11, 16),
      to.toISOString().slice(11, 16),
      sign,
    ]);
    expect(parts).toEqual([
      ["01:00", "01:10", -1],
      ["04:50", "05:00", -1],
    ]);
    const late = divide(
      { from: at("01:20"), to: at("04:20") },
      { byDay: false, starts: [at("04:15")], wholeSince: at("09:00") },
    );
    expect(late.ends).toEqual([
      { ...span(at("01:20").getTime(), at("02:00").getTime()), sign: 1 },
      { ...span(at("04:00").getTime(), at("04:15").getTime()), sign: 1 },
      { ...span(at("04:15").getTime(), at("04:20").getTime()), sign: 1 },
    ]);
  });

  it("moves the rest of an hour in which a day begins, where the sums have that hour", () => {
    const edgesOf = (starts: readonly Date[], splitSince?: Date) =>
      divide({ from: at("01:00"), to: at("06:00") }, { byDay: false, starts, splitSince }).edges;
    const edge = { from: at("03:30"), to: at("04:00") };
    expect(edgesOf([at("03:30"), at("04:00")])).toEqual([edge]);
    expect(edgesOf([at("00:30"), at("06:30")])).toEqual([]);
    expect(edgesOf([at("01:15"), at("05:45")])).toEqual([
      { from: at("01:15"), to: at("02:00") },
      { from: at("05:45"), to: at("06:00") },
    ]);
    expect([edgesOf([at("03:30")], at("03:00")), edgesOf([at("03:30")], at("03:01"))]).toEqual([
      [edge],
      [],
    ]);
  });
});
