/** How long a provider may take, in milliseconds. */
import { hourMs } from "../base/durations.ts";
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
  totalMs: hourMs,
};

/** Tokens that a slow model writes in the time that another one takes to begin. */
const tokensAtOnce = 4_096;

/**
 * The times of an answer that comes whole: its first byte comes when all of it is written, so that the wait for it grows with the
 * `outputTokens` that it may have. What a vendor is cut off from it bills, and so does the next one (docs/routing.md).
 */
export const wholeTimeouts = (timeouts: Timeouts, outputTokens: number): Timeouts => ({
  ...timeouts,
  firstByteMs: timeouts.firstByteMs * (1 + outputTokens / tokensAtOnce),
});
