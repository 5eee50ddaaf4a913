/** Retries of database work while the database is away for a moment. T67, T68. */
import { GatewayError } from "../base/errors.ts";
import { retry } from "../base/retry.ts";
import { isRolledBack, isTransient } from "./transient.ts";

/** Milliseconds of retries before admission: a restarting database comes back unnoticed, while the caller waits. */
export const reserveRetryMs = 3_000;
/** Milliseconds of retries for a hold. Longer, because the server ends the transaction of a stopped process only after 3 s. */
export const holdRetryMs = 5_000;
/** Milliseconds of retries for a charge: the answer has been earned, and giving up would lose its charge. */
export const settleRetryMs = 30_000;

/** Returns the error of a call that the ledger could not decide. */
export const unavailable = (cause: unknown): GatewayError =>
  new GatewayError("database_unavailable", "The ledger's database is not reachable.", {
    retryAfterSeconds: 2,
    cause,
  });

/**
 * Runs a read without retries: the caller may come again. While the database is away, it throws an error with `message`.
 * @throws GatewayError database_unavailable
 */
export async function readOnce<T>(message: string, work: () => Promise<T>): Promise<T> {
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
 * Repeats a transaction for up to `retryMs` while the server rolls it back because of others. It is not repeated after the loss of a
 * connection, because it may have been committed.
 * @throws GatewayError database_unavailable
 */
export const retryRolledBack = <T>(retryMs: number, work: () => Promise<T>): Promise<T> =>
  retryWhile(isRolledBack, retryMs, work);

/**
 * Retries `work` for up to `retryMs` while the database is away. From the second attempt on, an earlier one may have been committed before
 * its answer was lost.
 * @throws GatewayError database_unavailable
 */
export const retryWhileAway = <T>(
  retryMs: number,
  work: (attempt: number) => Promise<T>,
): Promise<T> => retryWhile(isTransient, retryMs, work);

async function retryWhile<T>(
  mayPass: (error: unknown) => boolean,
  retryMs: number,
  work: (attempt: number) => Promise<T>,
): Promise<T> {
  try {
    return await retry({ forMs: retryMs, mayPass }, work);
  } catch (error) {
    throw isTransient(error) ? unavailable(error) : error;
  }
}
