/** The guard against more calls than the gateway can take, by a clock and rounds of the test's own. */
import { describe, expect, it, onTestFinished } from "vitest";
import { LoadGuard } from "../../src/base/load-guard.ts";

function makeGuard(roundMax = 50) {
  let nowMs = 1_000;
  const warned: object[] = [];
  const log = { warn: (fields: object) => void warned.push(fields) };
  const guard = new LoadGuard(roundMax, log, () => nowMs);
  onTestFinished(() => guard.close());
  const isTaken = (): boolean => {
    try {
      guard.admit();
      return true;
    } catch {
      return false;
    }
  };
  /** Calls of one round; how many are taken. */
  const round = (calls: number, ms = 10): number => {
    const taken = Array.from({ length: calls }, isTaken).filter(Boolean).length;
    nowMs += ms;
    guard.tick();
    return taken;
  };
  return { guard, round, warned };
}

describe("the guard against overload", () => {
  it("takes so many calls in each round where every round has too many, and refuses the rest with 503 and Retry-After", () => {
    const { guard, round } = makeGuard();
    expect([round(1_000), round(250), round(250), round(50)]).toEqual([400, 50, 50, 50]);
    expect(guard.refused).toBe(1_000);
    const next = makeGuard(1);
    next.round(8);
    next.guard.admit();
    expect(() => next.guard.admit()).toThrow(
      expect.objectContaining({ code: "overloaded", retryAfterSeconds: 2 }),
    );
  });

  it("takes a burst after quiet rounds, also after a pause of the whole process", () => {
    const { guard, round } = makeGuard();
    round(400);
    expect(round(1_000)).toBe(50);
    for (let quiet = 0; quiet < 3; quiet += 1) round(10);
    expect(round(1_000)).toBe(170);
    for (let quiet = 0; quiet < 20; quiet += 1) round(0);
    expect(round(400, 60_000)).toBe(400);
    expect(guard.refused).toBe(1_780);
  });

  it("has no bound where it is 0", () => {
    const { round } = makeGuard(0);
    expect(round(100_000)).toBe(100_000);
    expect(round(100_000)).toBe(100_000);
  });

  it("says how many it refused, at most each ten seconds", () => {
    const { round, warned } = makeGuard();
    round(450);
    round(100);
    expect(warned).toEqual([{ refused: 50 }]);
    round(1, 10_000);
    expect(warned).toEqual([{ refused: 50 }, { refused: 50 }]);
  });
});
