/** When a task that no vendor took is asked for again. docs/tasks.md "When no vendor takes it". */

/** All offers are tried this often, however long a task may wait; the pauses between the rounds. */
const firstPausesMs = [500, 2_000] as const;
const [pauseMsMin, pauseMsMax] = [4_000, 300_000];
/** A vendor that asks for more is asked all the same after so long: its jobs may be done meanwhile, and others wait for it too. */
export const askedPauseMsMax = 120_000;

export interface Round {
  /** How often all offers have been tried: from 1. */
  readonly round: number;
  /** Since the task was submitted, in milliseconds. */
  readonly waitedMs: number;
  /** For how long it is asked for again (`limits.task_retry_s`), in milliseconds. */
  readonly retryForMs: number;
  /** What the vendor that was asked last wants to be left alone for. */
  readonly askedPauseMs?: number | undefined;
}

/**
 * How long after a round the next one begins; undefined: the task has failed. After the first rounds the pauses grow with the time
 * waited, by a quarter of it; the last round is when the time is over.
 */
export function pauseAfterRoundMs(of: Round): number | undefined {
  const { round, waitedMs, retryForMs, askedPauseMs = 0 } = of;
  const firstPauseMs = firstPausesMs[round - 1];
  if (waitedMs >= retryForMs) return firstPauseMs;
  const growingMs = Math.min(Math.max(waitedMs / 4, pauseMsMin), pauseMsMax);
  const pauseMs = firstPauseMs ?? Math.min(growingMs, retryForMs - waitedMs);
  return Math.ceil(Math.max(pauseMs, Math.min(askedPauseMs, askedPauseMsMax)));
}
