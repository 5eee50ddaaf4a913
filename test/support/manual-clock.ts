/** A clock that tests move. */
import type { Clock } from "../../src/base/clock.ts";

/** A clock that stands still until the test moves it. */
export function manualClock(
  startMs: number,
): Clock & { set(ms: number): void; advance(ms: number): void } {
  let current = startMs;
  return {
    now: () => current,
    set: (ms) => void (current = ms),
    advance: (ms) => void (current += ms),
  };
}
