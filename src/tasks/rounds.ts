/** When a task that no vendor took is submitted again. docs/tasks.md "When no vendor accepts it". */

/** The pauses between the first rounds over all offers, in milliseconds; every task gets these rounds, however long it may wait. */
const firstPausesMs = [500, 2_000] as const;
const [pauseMsMin, pauseMsMax] = [4_000, 300_000];
/** The longest pause that a vendor can ask for: its jobs may be done earlier, and other vendors wait for it too. */
export const askedPauseMsMax = 120_000;

export interface Round {
  /** The number of rounds over all offers so far, from 1. */
  readonly round: number;
  /** Milliseconds since the task was submitted. */
  readonly waitedMs: number;
  /** Milliseconds for which it is retried (`limits.task_retry_s`). */
  readonly retryForMs: number;
  /** Milliseconds for which the vendor that was asked last wants to be left alone. */
  readonly askedPauseMs?: number | undefined;
}

/**
 * Milliseconds from a round to the next one; undefined: the task has failed. After the first rounds a pause is a quarter of the time
 * waited; the last round is at the end of the retry time.
 */
export function pauseAfterRoundMs(of: Round): number | undefined {
  const { round, waitedMs, retryForMs, askedPauseMs = 0 } = of;
  const firstPauseMs = firstPausesMs[round - 1];
  if (waitedMs >= retryForMs) return firstPauseMs;
  const growingMs = Math.min(Math.max(waitedMs / 4, pauseMsMin), pauseMsMax);
  const pauseMs = firstPauseMs ?? Math.min(growingMs, retryForMs - waitedMs);
  return Math.ceil(Math.max(pauseMs, Math.min(askedPauseMs, askedPauseMsMax)));
}
