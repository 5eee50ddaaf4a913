/** How long a provider may take, in milliseconds. */
export interface Timeouts {
  readonly connectMs: number;
  /** From the request's end to the answer's first byte. */
  readonly firstByteMs: number;
  /** The longest silence inside an answer. */
  readonly idleMs: number;
  readonly totalMs: number;
}

export const defaultTimeouts: Timeouts = {
  connectMs: 10_000,
  firstByteMs: 120_000,
  idleMs: 120_000,
  totalMs: 3_600_000,
};
