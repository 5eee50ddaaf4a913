/** Time as a lane knows it; tests of histories bring their own. */
export interface LaneClock {
  /** Monotonic milliseconds. */
  now(): number;
  /** Runs `work` when what is to be done now is done. */
  soon(work: () => void): void;
  /** Runs `work` after a while. */
  later(work: () => void, ms: number): void;
}

export const systemLaneClock: LaneClock = {
  now: () => performance.now(),
  soon: (work) => void setImmediate(work),
  later: (work, ms) => void setTimeout(work, ms).unref(),
};
