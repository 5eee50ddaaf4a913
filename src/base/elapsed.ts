/** Durations by the monotonic clock, which goes on evenly when the machine's clock is set. */

/** Returns whole milliseconds since a time of `performance.now()`. */
export const msSince = (beganMs: number): number => Math.round(performance.now() - beganMs);
