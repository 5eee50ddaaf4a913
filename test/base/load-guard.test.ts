/** The guard against more calls than the gateway can take, with the test's own clock and rounds. */
import { describe, expect, it, onTestFinished } from "vitest";
import { GatewayError } from "../../src/base/errors.ts";
import { LoadGuard } from "../../src/base/load-guard.ts";

function makeGuard(roundMax = 50, underWay = Infinity) {
  let nowMs = 1_000;
  const warned: object[] = [];
  const log = { warn: (fields: object) => void warned.push(fields) };
  const guard = new LoadGuard(roundMax, {
    log,
    underWay: () => underWay,
    now: () => nowMs,
  });
  onTestFinished(() => guard.close());
  const isTaken = (): boolean => {
    try {
      guard.admit();
      return true;
    } catch {
      return false;
    }
  };
  /** Makes the calls of one round. Returns how many the guard takes. */
  const round = (calls: number, ms = 10): number => {
    const taken = Array.from({ length: calls }, isTaken).filter(Boolean).length;
    nowMs += ms;
    guard.tick();
    return taken;
  };
  return { guard, round, warned };
}

describe("the guard against overload", () => {
  it("takes a fixed number of calls per round under steady overload, and refuses the rest with 503 and Retry-After", () => {
    const { guard, round } = makeGuard();
    expect([round(1_000), round(250), round(250), round(50)]).toEqual([800, 50, 50, 50]);
    expect(guard.refused).toBe(600);
    const next = makeGuard(1);
    next.round(16);
    next.guard.admit();
    expect(() => next.guard.admit()).toThrow(
      expect.objectContaining({ code: "overloaded", retryAfterSeconds: 2 }),
    );
  });

  it("takes a burst after quiet rounds, and after a pause of the whole process", () => {
    const { guard, round } = makeGuard();
    round(800);
    for (let quiet = 0; quiet < 3; quiet += 1) round(10);
    expect(round(170)).toBe(170);
    for (let quiet = 0; quiet < 20; quiet += 1) round(0);
    expect(round(800, 60_000)).toBe(800);
    expect(guard.refused).toBe(0);
  });

  it("takes little more than a round's calls right after a refusal, and a burst again a second later", () => {
    const { round } = makeGuard(64);
    expect(round(2_000)).toBe(1_024);
    // A pause between refused calls does not count as quiet rounds.
    for (let lull = 0; lull < 8; lull += 1) round(0);
    expect(round(1_000)).toBe(64 + 8 * 4);
    for (let quiet = 0; quiet < 240; quiet += 1) round(10);
    expect(round(2_000)).toBe(1_024);
  });

  it("refuses no call while few are in flight, even if a fast machine finishes more than a round's limit in each round", () => {
    const few = makeGuard(64, 256);
    for (let busy = 0; busy < 100; busy += 1) expect(few.round(256, 5)).toBe(256);
    expect(few.guard.refused).toBe(0);
    const many = makeGuard(64, 257);
    for (let busy = 0; busy < 6; busy += 1) many.round(256, 5);
    expect(many.guard.refused).toBeGreaterThan(0);
  });

  it("has no limit if it is set to 0", () => {
    const { round } = makeGuard(0);
    expect(round(100_000)).toBe(100_000);
    expect(round(100_000)).toBe(100_000);
  });

  it("logs the number of refused calls, at most every ten seconds", () => {
    const { round, warned } = makeGuard();
    round(850);
    round(100);
    expect(warned).toEqual([{ refused: 50 }]);
    round(1, 10_000);
    expect(warned).toEqual([{ refused: 50 }, { refused: 50 }]);
  });

  it("explains database_unavailable as overloaded while the gateway's own lateness causes it", () => {
    const { guard, round } = makeGuard();
    const away = new GatewayError("database_unavailable", "It is away.");
    const explain = (): string => guard.explain(away).code;
    round(1);
    expect(explain()).toBe("database_unavailable");
    round(1, 3_000);
    expect(guard.explain(away)).toMatchObject({
      code: "overloaded",
      status: 503,
      retryAfterSeconds: 2,
      message: expect.stringContaining("too busy"),
    });
    const refused = new GatewayError("invalid_api_key", "No.");
    expect(guard.explain(refused)).toBe(refused);
    for (let rounds = 0; rounds < 9; rounds += 1) round(1, 1_000);
    expect(explain()).toBe("overloaded");
    round(1, 1_000);
    expect(explain()).toBe("database_unavailable");
  });

  it("does not count the time without calls as lateness", () => {
    const { guard, round } = makeGuard();
    round(1);
    guard.close();
    round(0, 60_000);
    guard.close();
    round(1);
    expect(guard.explain(new GatewayError("database_unavailable", "It is away.")).code).toBe(
      "database_unavailable",
    );
  });
});
