/** Periods, shares, changes and stacked bars of the console, with tables and properties. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { readChange, readShare } from "../../console/src/base/numbers.ts";
import { momentsIn, shownSpanOf } from "../../console/src/base/period.ts";
import {
  cutOf,
  endOf,
  readPlace,
  readStart,
  readTick,
  startsOf,
  stepOf,
} from "../../console/src/base/steps.ts";
import { periodOf } from "../../console/src/pages/key/period.ts";
import { barsOf, nothingText, sumOf } from "../../console/src/pages/overview/usage.ts";

// A Sunday, the last day of a month.
const now = new Date("2026-05-31T10:30:00Z");
const ends = ({ from, to }: { from: Date; to: Date }) =>
  [from, to].map((time) => time.toISOString().replace(/(:00)?\.000Z$/, ""));

it("each period has its start and end in UTC, and the period before it", () => {
  for (const [period, span, before] of [
    ["today", ["2026-05-31T00:00", "2026-05-31T10:30"], ["2026-05-30T00:00", "2026-05-30T10:30"]],
    [
      "yesterday",
      ["2026-05-30T00:00", "2026-05-31T00:00"],
      ["2026-05-29T00:00", "2026-05-30T00:00"],
    ],
    ["24h", ["2026-05-30T10:30", "2026-05-31T10:30"], ["2026-05-29T10:30", "2026-05-30T10:30"]],
    ["7d", ["2026-05-24T10:30", "2026-05-31T10:30"], ["2026-05-17T10:30", "2026-05-24T10:30"]],
    ["30d", ["2026-05-01T10:30", "2026-05-31T10:30"], ["2026-04-01T10:30", "2026-05-01T10:30"]],
    ["90d", ["2026-03-02T10:30", "2026-05-31T10:30"], ["2025-12-02T10:30", "2026-03-02T10:30"]],
    [
      "last-week",
      ["2026-05-18T00:00", "2026-05-25T00:00"],
      ["2026-05-11T00:00", "2026-05-18T00:00"],
    ],
    // April has no 31st: its part ends where May begins.
    ["month", ["2026-05-01T00:00", "2026-05-31T10:30"], ["2026-04-01T00:00", "2026-05-01T00:00"]],
    [
      "last-month",
      ["2026-04-01T00:00", "2026-05-01T00:00"],
      ["2026-03-01T00:00", "2026-04-01T00:00"],
    ],
  ] as const) {
    const shown = shownSpanOf({ period }, now);
    expect({ period, span: ends(shown), before: ends(shown.before), unread: shown.unread }).toEqual(
      { period, span, before, unread: false },
    );
  }
});

it("two times in an address take precedence over a named period; an unreadable period becomes the default and is reported", () => {
  const from = "2026-05-01T00:00:00Z";
  const to = "2026-05-03T00:00:00Z";
  expect(ends(shownSpanOf({ period: "24h", from, to }, now))).toEqual([
    "2026-05-01T00:00",
    "2026-05-03T00:00",
  ]);
  expect(ends(shownSpanOf({ from }, now))).toEqual(["2026-05-01T00:00", "2026-05-31T10:30"]);
  for (const [search, unread] of [
    [{}, false],
    [{ period: "constructor" }, true],
    [{ from: to, to: from }, true],
    [{ from: "2026-13-01T00:00:00Z" }, true],
    [{ from: "yesterday" }, true],
    [{ period: "24h", from: "yesterday" }, true],
    // It begins in the future, and has no end.
    [{ from: "2027-01-01T00:00:00Z" }, true],
  ] as const) {
    const shown = shownSpanOf(search, now);
    expect({ search, unread: shown.unread }).toEqual({ search, unread });
    expect(shown.from < shown.to).toBe(true);
  }
  expect(momentsIn({}, now)).toEqual({});
  expect(momentsIn({ to }, now)).toEqual({ to: new Date(to) });
  expect(momentsIn({ period: "7d" }, now)).toEqual({ from: new Date("2026-05-24T10:30:00Z") });
});

it("a key's usage links to the calls of its shown period, and uses the default if the address is unreadable", () => {
  const [from, to] = ["2026-05-01T00:00:00Z", "2026-05-03T00:00:00Z"];
  expect(periodOf({}).search).toEqual({ period: "24h" });
  expect(periodOf({ from, to }).search).toEqual({ from, to });
  const { label, search } = periodOf({ from: to, to: from });
  expect({ label, search }).toEqual({ label: "Last 7 days", search: { period: "7d" } });
});

it("any address gives a period with a start, an end, and steps that cover it without gaps", () => {
  const text = fc.option(
    fc.oneof(
      fc.string(),
      fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
    ),
    { nil: undefined },
  );
  fc.assert(
    fc.property(fc.record({ period: text, from: text, to: text }), ({ period, from, to }) => {
      const shown = shownSpanOf(
        { ...(period && { period }), ...(from && { from }), ...(to && { to }) },
        now,
      );
      expect(shown.from < shown.to).toBe(true);
      const step = stepOf(shown);
      const starts = startsOf(shown, step);
      expect(starts.length).toBeGreaterThan(0);
      expect(starts[0]! <= shown.from.toISOString()).toBe(true);
      for (const [place, start] of starts.slice(1).entries())
        expect(endOf(starts[place]!, step).toISOString()).toBe(start);
      const isWhole = endOf(starts.at(-1)!, step) >= shown.to;
      expect(isWhole || starts.length === 1000).toBe(true);
    }),
  );
});

it("the start of an hour, a day and a month is shown in UTC", () => {
  expect(readStart("2026-05-31T10:00:00.000Z", "hour")).toBe("10:00");
  expect(readStart("2026-05-31T00:00:00.000Z", "day")).toBe("31 May");
  expect(readStart("2026-05-01T00:00:00.000Z", "month")).toBe("May 2026");
});

it("a single hour is shown with its day, and midnight on a chart's axis as a date", () => {
  const [evening, midnight] = ["2026-05-30T23:00:00.000Z", "2026-05-31T00:00:00.000Z"] as const;
  expect([evening, midnight].map((start) => readPlace(start, "hour"))).toEqual([
    "30 May 23:00",
    "31 May 00:00",
  ]);
  expect([evening, midnight].map((start) => readTick(start, "hour"))).toEqual(["23:00", "31 May"]);
  expect([readPlace(midnight, "day"), readTick(midnight, "month")]).toEqual(["31 May", "May 2026"]);
});

it("an incomplete first or last bar is explained, and complete ones are not", () => {
  const span = (from: string, to: string) => ({ from: new Date(from), to: new Date(to) });
  for (const [one, step, words] of [
    [span("2026-05-30T00:00Z", "2026-05-31T00:00Z"), "day", ""],
    [
      span("2026-05-30T07:46Z", "2026-05-31T09:10Z"),
      "day",
      "The first day begins at 07:46, the last day ends at 09:10 (UTC).",
    ],
    [span("2026-05-30T00:00Z", "2026-05-31T09:10Z"), "day", "The last day ends at 09:10 (UTC)."],
    [
      span("2026-05-30T07:46Z", "2026-05-31T09:00Z"),
      "hour",
      "The first hour begins at 07:46 (UTC).",
    ],
    [
      span("2026-01-15T00:00Z", "2026-06-01T00:00Z"),
      "month",
      "The first month begins at 15 Jan 00:00 (UTC).",
    ],
  ] as const)
    expect([one, step, cutOf(one, step)]).toEqual([one, step, words]);
});

it("a share above zero is never shown as 0 %, and a change is shown in percent", () => {
  for (const [part, whole, share] of [
    [0n, 0n, "-"],
    [0n, 5n, "0 %"],
    [1n, 1_000_000n, "< 0.1 %"],
    [42n, 1000n, "4.2 %"],
    [99_999n, 1_000_000n, "10 %"],
    [5n, 5n, "100 %"],
  ] as const)
    expect([part, whole, readShare(part, whole)]).toEqual([part, whole, share]);
  for (const [after, before, change] of [
    [0n, 0n, ""],
    [5n, 0n, "new"],
    [5n, 5n, "0 %"],
    [56n, 50n, "+12 %"],
    [0n, 7n, "-100 %"],
    [97n, 100n, "-3.0 %"],
    [7_000n, 7n, "+99,900 %"],
    [1_000_001n, 1_000_000n, "+< 0.1 %"],
  ] as const)
    expect([after, before, readChange(after, before)]).toEqual([after, before, change]);
});

it("bars have four groups and a rest, and their sums are exact", () => {
  const starts = ["2026-05-30T00:00:00.000Z", "2026-05-31T00:00:00.000Z"];
  const row = fc.record({
    start: fc.constantFrom(...starts),
    model: fc.constantFrom("a", "b", "c", "d", null),
    other: fc.boolean(),
    requests: fc.nat(),
    errors: fc.nat(),
    input_tokens: fc.nat(),
    output_tokens: fc.nat(),
    cost: fc.nat().map((nano) => `0.${String(nano).padStart(9, "0").slice(-9)}`),
  });
  fc.assert(
    fc.property(fc.array(row), fc.constantFrom("cost", "tokens", "requests"), (rows, metric) => {
      const bars = barsOf(rows, { by: "model", metric, starts, names: new Map() });
      expect(bars.series.length).toBeLessThanOrEqual(5);
      const whole = bars.series.reduce((sum, { total }) => sum + total, 0n);
      expect(whole).toBe(sumOf(rows, metric));
      const drawn = [...bars.exact.values()].flatMap((at) => [...at.values()]);
      expect(drawn.reduce((sum, size) => sum + size, 0n)).toBe(whole);
      expect(bars.points.map(({ start }) => start)).toEqual(starts);
    }),
  );
});

it("a period without calls names the chosen tag or provider, and claims no more than is known", () => {
  const of = { only: undefined, isNew: false, label: "Last week", lastAt: undefined };
  expect(nothingText({ ...of, lastAt: "14:03:22.114" })).toBe(
    "No calls in this period, last week; the last one was at 14:03:22.114.",
  );
  expect(nothingText({ ...of, only: "acme" })).toBe("No calls of acme in this period, last week.");
  // The newest call is not read yet.
  expect(nothingText(of)).toBe("No calls in this period, last week.");
  expect(nothingText({ ...of, isNew: true })).toMatch(/^No calls yet\./);
});
