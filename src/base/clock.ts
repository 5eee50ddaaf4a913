/** Time as a dependency, so that caps, leases and deadlines can be tested at their boundaries. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };
