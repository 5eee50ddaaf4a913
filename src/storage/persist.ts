/** Repeating what a database that is away for a moment could not do. T67, T68. */
import { GatewayError } from "../base/errors.ts";
import { retry } from "../base/retry.ts";
import { isTransient } from "./transient.ts";

/** Within it a restarting database comes back unnoticed; the caller is still waiting to be let in. */
export const reserveRetryMs = 3_000;
/** A hold also waits for a process that was stopped within its transaction, until the server ends that. */
export const holdRetryMs = 5_000;
/** The answer has been earned by now, and giving up would lose its charge. */
export const settleRetryMs = 30_000;

/** The error of a call whose money could not be decided. */
export const unavailable = (cause: unknown): GatewayError =>
  new GatewayError("database_unavailable", "The ledger's database is not reachable.", {
    retryAfterSeconds: 2,
    cause,
  });

/**
 * A look that is not repeated: its caller may come again. `message` is what they are told while the database is away.
 * @throws GatewayError database_unavailable
 */
export async function lookOnce<T>(message: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isTransient(error)) throw error;
    throw new GatewayError("database_unavailable", message, {
      retryAfterSeconds: 1,
      cause: error,
    });
  }
}

/**
 * Repeats `work` while the database is away, for `retryMs`. From the second attempt on, an earlier one may have been
 * committed before its answer was lost.
 * @throws GatewayError database_unavailable
 */
export async function persist<T>(
  retryMs: number,
  work: (attempt: number) => Promise<T>,
): Promise<T> {
  try {
    return await retry({ forMs: retryMs, mayPass: isTransient }, work);
  } catch (error) {
    throw isTransient(error) ? unavailable(error) : error;
  }
}
