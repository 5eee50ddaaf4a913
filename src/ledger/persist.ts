/** Repeating what a database that is away for a moment could not do. T67, T68. */
import { GatewayError } from "../base/errors.ts";
import { isTransient } from "../storage/index.ts";

/** Within it a restarting database comes back unnoticed; the caller is still waiting to be let in. */
export const reserveRetryMs = 3_000;
/** A hold also waits for a process that was stopped within its transaction, until the server ends that. */
export const holdRetryMs = 5_000;
/** The answer has been earned by now, and giving up would lose its charge. */
export const settleRetryMs = 30_000;

/** The pause after so many failures in a row. */
export const retryPauseMs = (failures: number): number => Math.min(25 * 2 ** failures, 1_000);

/** Why a call must be told that its money could not be decided. */
export const unavailable = (cause: unknown): GatewayError =>
  new GatewayError("database_unavailable", "The ledger's database is not reachable.", {
    retryAfterSeconds: 2,
    cause,
  });

/**
 * Repeats `work` while the database is away, for `retryMs`. From the second attempt on, an earlier one may have been
 * committed before its answer was lost.
 * @throws GatewayError database_unavailable
 */
export async function persist<T>(
  retryMs: number,
  work: (attempt: number) => Promise<T>,
): Promise<T> {
  const deadline = performance.now() + retryMs;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work(attempt);
    } catch (error) {
      if (!isTransient(error)) throw error;
      const waitMs = retryPauseMs(attempt);
      if (performance.now() + waitMs > deadline) throw unavailable(error);
      await new Promise((resume) => setTimeout(resume, waitMs));
    }
  }
}
