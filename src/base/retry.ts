/** Retries of work whose failure may pass. */
import { setTimeout as sleep } from "node:timers/promises";

const pauseMsMaxDefault = 1_000;

/** Returns the pause after `failures` failures in a row, in milliseconds. */
export const retryPauseMs = (failures: number, pauseMsMax = pauseMsMaxDefault): number =>
  Math.min(25 * 2 ** failures, pauseMsMax);

/** Which failures are retried, for how long, and with which pauses (milliseconds). */
interface RetryRule {
  readonly forMs: number;
  /** The longest pause; a second if absent. */
  readonly pauseMsMax?: number;
  /** When it aborts, there is one more try, at once. */
  readonly signal?: AbortSignal | undefined;
  mayPass(error: unknown): boolean;
}

/** Runs `work` until it succeeds; it gets the number of its attempt, from 1. @throws the last failure */
export async function retry<T>(rule: RetryRule, work: (attempt: number) => Promise<T>): Promise<T> {
  const { signal } = rule;
  const deadline = performance.now() + rule.forMs;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work(attempt);
    } catch (error) {
      const pauseMs = retryPauseMs(attempt, rule.pauseMsMax);
      const isOver = performance.now() + pauseMs > deadline || signal?.aborted === true;
      if (!rule.mayPass(error) || isOver) throw error;
      await (signal === undefined
        ? sleep(pauseMs)
        : sleep(pauseMs, undefined, { signal }).catch(() => undefined));
    }
  }
}
