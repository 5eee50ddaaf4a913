/** Durations: by the processor's count, which goes on evenly where somebody sets the machine's clock. */

/** Whole milliseconds since a moment of `performance.now()`. */
export const msSince = (beganMs: number): number => Math.round(performance.now() - beganMs);
