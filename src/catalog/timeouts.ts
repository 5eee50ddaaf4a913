/** Timeouts of a provider, in milliseconds. */
import { hourMs } from "../base/durations.ts";
export interface Timeouts {
  readonly connectMs: number;
  /** From the end of the request to the first byte of the answer. */
  readonly firstByteMs: number;
  /** The longest pause inside an answer. */
  readonly idleMs: number;
  readonly totalMs: number;
}

export const defaultTimeouts: Timeouts = {
  connectMs: 10_000,
  firstByteMs: 120_000,
  idleMs: 120_000,
  totalMs: hourMs,
};

/** Output tokens that extend `firstByteMs` by its own length: a slow model's output in that time. */
const tokensAtOnce = 4_096;

/**
 * The timeouts of an answer without a stream. Its first byte comes after its last token, so the wait grows with the
 * `outputTokens` that it may have. A vendor bills a call that is cut off, and the next vendor bills it again (docs/routing.md).
 */
export const wholeTimeouts = (timeouts: Timeouts, outputTokens: number): Timeouts => ({
  ...timeouts,
  firstByteMs: timeouts.firstByteMs * (1 + outputTokens / tokensAtOnce),
});
