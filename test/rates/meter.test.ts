/** One process's state of one limit, step by step. docs/limits.md. */
import { expect, it } from "vitest";
import { Meter } from "../../src/rates/meter.ts";

const meterOf = (unit: "requests" | "calls") =>
  new Meter({ workspaceId: "w", scope: "key", scopeId: "k", unit });
const answer = (granted: number) => ({
  step: 7,
  granted,
  total: granted,
  waitMs: 0,
  resetMs: 60_000,
});
const addWaiter = (meter: Meter, amount: number, sinceMs = 0) => {
  const outcome: { short?: boolean } = {};
  meter.waiting.push({
    amount,
    sinceMs,
    resolve: (short) => (outcome.short = short !== undefined),
    reject: () => undefined,
  });
  return outcome;
};

it("a returned call slot cannot be taken until the database has answered", () => {
  const meter = meterOf("calls");
  expect(meter.tryTake(1, 2, 0)).toBe(false);
  const first = addWaiter(meter, 1);
  expect(meter.ask(0)).toMatchObject({ need: 1, first: 0 });
  meter.answered(1, answer(1), 1);
  expect(first.short).toBe(false);
  meter.correct(7, -1);
  expect(meter.ask(2)).toMatchObject({ need: 0, first: 0 });
  expect(meter.tryTake(1, 2, 3)).toBe(false);
  const second = addWaiter(meter, 1);
  meter.answered(0, answer(0), 4);
  expect(second.short).toBeUndefined();
  expect(meter.ask(5)).toMatchObject({ need: 1 });
});

it("units that were taken ahead and not used are returned once, to the second in which they were taken", () => {
  const meter = meterOf("requests");
  meter.tryTake(1, 100, 0);
  addWaiter(meter, 1);
  meter.ask(0);
  meter.answered(1, answer(4), 1);
  expect(meter.tryTake(1, 100, 2)).toBe(true);
  expect(meter.remainingAt(100, 3)).toEqual({ remaining: 98, resetMs: 59_998 });
  expect(meter.settle(200)).toBe(false);
  expect(meter.settle(300)).toBe(true);
  expect(meter.ask(300).corrections).toEqual([{ step: 7, amount: -2 }]);
  expect(meter.ask(301).corrections).toEqual([]);
  expect(meter.tryTake(1, 100, 302)).toBe(false);
});

it.each(["requests", "calls"] as const)(
  "LIM-17: %s that were taken ahead under a higher limit are not used after it was lowered",
  (unit) => {
    const meter = meterOf(unit);
    meter.tryTake(1, 100, 0);
    addWaiter(meter, 1);
    meter.ask(0);
    meter.answered(1, answer(4), 1);
    expect(meter.tryTake(1, 100, 2)).toBe(true);
    expect(meter.tryTake(1, 1, 3)).toBe(false);
    const refused = addWaiter(meter, 1);
    const corrections = unit === "calls" ? [] : [{ step: 7, amount: -2 }];
    expect(meter.ask(3)).toMatchObject({ limit: 1, need: unit === "calls" ? 3 : 1, corrections });
    meter.answered(1, answer(0), 200);
    expect(refused.short).toBe(true);
  },
);

it("LIM-17: after a request without an answer, reported use is sent again and returned units are not", () => {
  const meter = meterOf("requests");
  meter.correct(7, -2);
  meter.correct(7, 3);
  meter.failed(0, new Error("away"), meter.ask(0));
  expect(meter.ask(1).corrections).toEqual([{ step: 7, amount: 3 }]);
});

it.each([
  ["of the last 250 ms", [[30, 0]], 100, 30],
  [
    "of the 250 ms before, if that was more",
    [
      [30, 0],
      [5, 300],
    ],
    310,
    30,
  ],
  [
    "of the 250 ms before, if that was less",
    [
      [5, 0],
      [30, 300],
    ],
    310,
    30,
  ],
  [
    "of the 250 ms before, also late in a gateway's life",
    [
      [30, 9_000],
      [5, 9_300],
    ],
    9_310,
    30,
  ],
  [
    "that is longer ago",
    [
      [30, 0],
      [7, 501],
    ],
    510,
    7,
  ],
  ["at the end of its time", [[30, 0]], 500, 30],
  ["after its time", [[30, 0]], 501, 0],
  ["above a twentieth of the limit", [[100, 0]], 10, 50],
] as const)("the use %s is asked for ahead: %j at %d ms: %d", (_when, uses, nowMs, headroom) => {
  const meter = meterOf("requests");
  meter.tryTake(1, 1_000, 0);
  for (const [amount, at] of uses) {
    addWaiter(meter, amount);
    meter.ask(at);
    meter.answered(1, answer(amount), at);
  }
  expect(meter.ask(nowMs)).toMatchObject({ need: 0, headroom: 0 });
  addWaiter(meter, 1);
  expect(meter.ask(nowMs)).toMatchObject({ need: 1, headroom });
});

it("unused units go back after 250 ms without a call, or 500 ms after their grant; nothing goes back if none is left", () => {
  const returnedAt = (usedMs: number, nowMs: number) => {
    const meter = meterOf("requests");
    meter.tryTake(1, 100, 0);
    meter.answered(0, answer(3), 0);
    expect(meter.tryTake(1, 100, usedMs)).toBe(true);
    return [meter.settle(nowMs), meter.free];
  };
  expect([returnedAt(0, 249), returnedAt(0, 250)]).toEqual([
    [false, 2],
    [true, 0],
  ]);
  expect([returnedAt(490, 499), returnedAt(490, 500)]).toEqual([
    [false, 2],
    [true, 0],
  ]);
  const empty = meterOf("requests");
  empty.tryTake(1, 100, 0);
  expect([empty.settle(600), empty.ask(600).corrections]).toEqual([false, []]);
});

it("free units are taken to the last one, and a query asks only for the missing ones", () => {
  const meter = meterOf("requests");
  meter.tryTake(1, 100, 0);
  meter.answered(0, answer(2), 0);
  expect([meter.tryTake(3, 100, 1), meter.tryTake(2, 100, 1)]).toEqual([false, true]);
  meter.answered(0, answer(2), 2);
  const waiters = [addWaiter(meter, 3), addWaiter(meter, 4)];
  expect(meter.ask(3)).toMatchObject({ need: 5, first: 3 });
  meter.answered(2, answer(5), 4);
  expect(waiters).toEqual([{ short: false }, { short: false }]);
});

it("a meter is forgotten two minutes after its last use, and not while anything of it is open", () => {
  const used = (change: (meter: Meter) => void, unit: "requests" | "calls" = "requests") => {
    const meter = meterOf(unit);
    meter.tryTake(1, 100, 0);
    meter.answered(0, answer(1), 0);
    meter.tryTake(1, 100, 0);
    change(meter);
    return [meter.isForgotten(120_000), meter.isForgotten(120_001)];
  };
  expect(used(() => undefined)).toEqual([false, true]);
  expect(used((meter) => addWaiter(meter, 1))).toEqual([false, false]);
  expect(used((meter) => meter.correct(7, -1))).toEqual([false, false]);
  expect(used((meter) => meter.answered(0, answer(1), 1))).toEqual([false, false]);
  expect(used(() => undefined, "calls")).toEqual([false, false]);
});

it("an answer refuses the calls that its query asked for, and no call that came later", () => {
  const meter = meterOf("requests");
  meter.tryTake(1, 1, 0);
  const [asked, late] = [addWaiter(meter, 1), addWaiter(meter, 1)];
  meter.answered(1, answer(0), 1);
  expect([asked.short, late.short, meter.waiting.length]).toEqual([true, undefined, 1]);
});

it("the remaining units count corrections that are not sent yet, or whose answer is not there yet", () => {
  const meter = new Meter({ workspaceId: "w", scope: "key", scopeId: "k", unit: "tokens" });
  meter.answered(0, { ...answer(0), total: 10 }, 0);
  const remaining = () => meter.remainingAt(100, 1).remaining;
  expect(remaining()).toBe(90);
  meter.correct(7, 20);
  meter.correct(7, -5);
  expect(remaining()).toBe(75);
  meter.ask(1);
  expect(remaining()).toBe(75);
  meter.answered(0, { ...answer(0), total: 25 }, 1);
  expect(remaining()).toBe(75);
});

it("a refusal is remembered for 100 ms, for the same amount and limit; returned units end it", () => {
  const meter = meterOf("requests");
  meter.tryTake(5, 10, 0);
  expect(addWaiter(meter, 5)).toEqual({});
  meter.ask(0);
  meter.answered(1, { ...answer(0), waitMs: 2_000 }, 10);
  expect(meter.refusal(5, 60)?.waitMs).toBe(1_950);
  expect(meter.refusal(4, 60)).toBeUndefined();
  expect(meter.refusal(5, 110)).toBeUndefined();
  expect(meter.tryTake(5, 11, 60)).toBe(false);
  expect(meter.refusal(5, 60)).toBeUndefined();
  expect(meter.tryTake(5, 10, 60)).toBe(false);
  meter.correct(7, -1);
  expect(meter.refusal(5, 60)).toBeUndefined();
});

it("a call above a limit of concurrent calls waits briefly, in order, for a call that has just ended at another gateway", () => {
  const meter = meterOf("calls");
  meter.tryTake(1, 1, 0);
  const [first, second] = [addWaiter(meter, 1), addWaiter(meter, 1, 20)];
  meter.ask(30);
  meter.answered(2, answer(0), 40);
  expect([first.short, second.short, meter.shouldRetry]).toEqual([undefined, undefined, true]);
  expect(meter.refusal(1, 41)).toBeUndefined();
  meter.ask(70);
  meter.answered(2, answer(1), 80);
  expect([first.short, second.short, meter.shouldRetry]).toEqual([false, undefined, true]);
  meter.ask(170);
  meter.answered(1, { ...answer(1), waitMs: 1_000 }, 171);
  expect([second.short, meter.shouldRetry]).toEqual([true, false]);
  expect(meter.refusal(1, 180)?.waitMs).toBe(991);
});
