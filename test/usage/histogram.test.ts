/** Values read from a histogram of times: the median and the 95th percentile, within 12 %. */
import { describe, expect, it } from "vitest";
import { percentilesOf } from "../../src/usage/histogram.ts";

/** A histogram with these counts in its counters, as the database sums them. */
const histogram = (counts: Readonly<Record<number, number>>): string =>
  Object.entries(counts)
    .reduce((sum, [place, count]) => sum + BigInt(count) * 10n ** (12n * BigInt(place)), 0n)
    .toString();

describe("the percentiles", () => {
  it.each<[what: string, counts: Readonly<Record<number, number>>, p50: number, p95: number]>([
    ["one time below 1.25 ms", { 0: 1 }, 1, 1],
    ["one time of 1.25 to 1.56 ms", { 1: 1 }, 1, 1],
    ["one time of 9.3 to 11.6 ms", { 10: 1 }, 10, 10],
    ["half of the times in each of two counters", { 0: 5, 20: 5 }, 1, 97],
    ["one more time in the second counter", { 0: 5, 20: 6 }, 97, 97],
    ["nineteen of twenty in the lower counter", { 10: 19, 30: 1 }, 10, 10],
    ["eighteen of twenty in the lower counter", { 10: 18, 30: 2 }, 10, 903],
    ["counts of eleven digits", { 10: 99_999_999_999, 63: 1 }, 10, 10],
    ["the last counter", { 63: 3 }, 1_424_905, 1_424_905],
  ])("are read for: %s", (_what, counts, p50, p95) => {
    expect(percentilesOf(histogram(counts))).toEqual({ p50, p95 });
  });

  it("are null without times", () => {
    expect(percentilesOf("0")).toBeNull();
  });
});
