/** What a gateway remembers of a provider's last hour: counts and the last words, bounded however much goes wrong. docs/routing.md. */
import { expect, it } from "vitest";
import { LastHourCounts } from "../../src/routing/last-hour.ts";

const minuteMs = 60_000;

it("counts attempts and failures of sixty minutes, the most frequent failure first", () => {
  const counts = new LastHourCounts();
  counts.add(0);
  counts.add(0, { code: "500", message: "first" });
  counts.add(minuteMs, { code: "429" });
  counts.add(minuteMs, { code: "429", message: "slow down" });
  counts.add(minuteMs, { code: "500" });
  counts.add(2 * minuteMs, { code: "429" });
  expect(counts.read(2 * minuteMs)).toEqual({
    calls_last_hour: 6,
    errors_last_hour: [
      { code: "429", count: 3, last_message: "slow down" },
      { code: "500", count: 2, last_message: "first" },
    ],
  });
  // The first minute is over an hour ago.
  expect(counts.read(60 * minuteMs)).toMatchObject({ calls_last_hour: 4 });
  expect(counts.read(63 * minuteMs)).toEqual({ calls_last_hour: 0, errors_last_hour: [] });
});

it("keeps the last words of a failure, cut, and each minute of the hour", () => {
  const counts = new LastHourCounts();
  for (let minute = 0; minute < 200; minute += 1)
    counts.add(minute * minuteMs, { code: "500", message: `${minute} ${"x".repeat(400)}` });
  const { calls_last_hour: calls, errors_last_hour: errors } = counts.read(199 * minuteMs);
  expect([calls, errors[0]!.count, errors[0]!.last_message!.length]).toEqual([60, 60, 300]);
  expect(errors[0]!.last_message).toMatch(/^199 /);
});

it("knows thirty outcomes a minute by name, and the others together", () => {
  const counts = new LastHourCounts();
  for (let code = 0; code < 40; code += 1) counts.add(0, { code: `c${code}` });
  const { errors_last_hour: errors } = counts.read(0);
  expect(errors).toHaveLength(31);
  expect(errors[0]).toEqual({ code: "other", count: 10, last_message: null });
});
