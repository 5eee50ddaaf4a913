/** The mean speeds of calls: which calls count, and for how long. Many old calls cannot outweigh new ones. docs/routing.md. */
import { beforeEach, describe, expect, it } from "vitest";
import { Speed } from "../../src/routing/speed.ts";

let speed: Speed;
beforeEach(() => {
  speed = new Speed();
});

const call = (stream: boolean, firstTokenMs: number, outputTokens?: number) => ({
  stream,
  firstTokenMs,
  durationMs: 2_000,
  outputTokens,
});

describe("a mean speed", () => {
  it("halves the weight of a call for each minute of its age", () => {
    speed.add(call(true, 100), 0);
    speed.add(call(true, 400), 60_000);
    // (100 / 2 + 400) / (1 / 2 + 1)
    expect(speed.firstTokenMs(true, 60_000)).toBeCloseTo(300);
    speed.add(call(true, 300), 60_000);
    expect(speed.firstTokenMs(true, 60_000)).toBeCloseTo(300);
    speed.add(call(true, 100), 90_000);
    // 2.5 * sqrt(1/2) = 1.768 calls of 300, and one of 100.
    expect(speed.firstTokenMs(true, 90_000)).toBeCloseTo((300 * 1.76777 + 100) / 2.76777, 1);
  });

  it("counts a burst of any length as fifty calls", () => {
    for (let count = 0; count < 1_000; count += 1) speed.add(call(true, 100), 0);
    for (let count = 0; count < 50; count += 1) speed.add(call(true, 1_000), 0);
    // (50 / 51) ** 50 of the weight still belongs to the burst.
    expect(speed.firstTokenMs(true, 0)).toBeCloseTo(1_000 - 900 * (50 / 51) ** 50, -1);
  });

  it("is unknown before the first call, and two minutes after the last", () => {
    expect(speed.firstTokenMs(true, 0)).toBeUndefined();
    speed.add(call(true, 100), 1_000);
    expect(speed.firstTokenMs(true, 121_000)).toBe(100);
    expect(speed.firstTokenMs(true, 121_001)).toBeUndefined();
  });
});

describe("tokens a second", () => {
  it("count a stream from after its first token, and a whole answer over its whole duration", () => {
    speed.add(call(true, 1_000, 101), 0);
    speed.add(call(false, 2_000, 100), 0);
    expect(speed.tokensPerSecond(true, 0)).toBe(100);
    expect(speed.tokensPerSecond(false, 0)).toBe(50);
    expect(speed.firstTokenMs(true, 0)).toBe(1_000);
    expect(speed.firstTokenMs(false, 0)).toBe(2_000);
  });

  it("count a stream from the vendor's first frame, which may have waited for the answer to begin", () => {
    speed.add({ ...call(true, 1_900, 101), waitedMs: 900 }, 0);
    expect(speed.tokensPerSecond(true, 0)).toBe(100);
    expect(speed.firstTokenMs(true, 0)).toBe(1_900);
  });

  it("count a stream that came whole over its whole duration too", () => {
    speed.add({ ...call(true, 1_999, 100), isWhole: true }, 0);
    expect(speed.tokensPerSecond(true, 0)).toBe(50);
    expect(speed.firstTokenMs(true, 0)).toBe(1_999);
  });

  it("need a known usage of at least sixteen tokens", () => {
    speed.add(call(true, 1_000), 0);
    speed.add(call(true, 1_000, 15), 0);
    expect(speed.tokensPerSecond(true, 0)).toBeUndefined();
    speed.add(call(true, 1_000, 16), 0);
    expect(speed.tokensPerSecond(true, 0)).toBe(15);
  });

  it("are finite for an answer that arrives in one piece", () => {
    speed.add({ stream: true, firstTokenMs: 5, durationMs: 5, outputTokens: 101 }, 0);
    expect(speed.tokensPerSecond(true, 0)).toBe(100_000);
  });
});
