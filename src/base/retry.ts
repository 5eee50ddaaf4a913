/** Repeating work whose failure may pass. */
import { setTimeout as sleep } from "node:timers/promises";

/** The pause after so many failures in a row, in milliseconds. */
export const retryPauseMs = (failures: number): number => Math.min(25 * 2 ** failures, 1_000);

/** Which failures are retried, for how long, and after which pauses (milliseconds). */
interface RetryRule {
  readonly forMs: number;
  mayPass(error: unknown): boolean;
}

/** Repeats `work`, which gets the number of its attempt, from 1. @throws the last failure */
export async function retry<T>(rule: RetryRule, work: (attempt: number) => Promise<T>): Promise<T> {
  const deadline = performance.now() + rule.forMs;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work(attempt);
    } catch (error) {
      const pauseMs = retryPauseMs(attempt);
      if (!rule.mayPass(error) || performance.now() + pauseMs > deadline) throw error;
      await sleep(pauseMs);
    }
  }
}
