/** The minute in which a key's calls are counted. LIM-17. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { MinuteWindow } from "../../src/calls/rate-limit-window.ts";

it("what was used is gone a minute later, and never sooner", () => {
  const window = new MinuteWindow();
  window.add(3, 500);
  expect(window.used(60_499)).toBe(3);
  expect(window.used(61_000)).toBe(0);
});

it("is empty after a long time, and counts from there", () => {
  const window = new MinuteWindow();
  window.add(5, 1_000);
  expect(window.used(10 * 60_000)).toBe(0);
  window.add(1, 10 * 60_000);
  expect(window.used(10 * 60_000)).toBe(1);
});

it("a correction never makes less than nothing", () => {
  const window = new MinuteWindow();
  window.add(10, 1_000);
  window.add(-10, 30_000);
  expect(window.used(30_000)).toBe(0);
  // What is corrected is forgotten before its correction.
  expect(window.used(65_000)).toBe(0);
});

it("whatever comes when, no sixty seconds see more than the limit, and who waits as told is let in", () => {
  const limit = 10;
  const arrivals = fc.array(fc.tuple(fc.nat(15_000), fc.integer({ min: 1, max: 4 })), {
    minLength: 1,
    maxLength: 80,
  });
  fc.assert(
    fc.property(arrivals, (steps) => {
      const window = new MinuteWindow();
      const admitted: { atMs: number; amount: number }[] = [];
      let nowMs = 0;
      for (const [pauseMs, amount] of steps) {
        nowMs += pauseMs;
        if (window.used(nowMs) + amount > limit) {
          const waitMs = window.waitMs(limit - amount, nowMs);
          nowMs += waitMs;
        }
        expect(window.used(nowMs) + amount).toBeLessThanOrEqual(limit);
        window.add(amount, nowMs);
        admitted.push({ atMs: nowMs, amount });
      }
      for (const { atMs } of admitted) {
        const within = admitted.filter((one) => one.atMs >= atMs && one.atMs < atMs + 60_000);
        expect(within.reduce((sum, { amount }) => sum + amount, 0)).toBeLessThanOrEqual(limit);
      }
    }),
  );
});
