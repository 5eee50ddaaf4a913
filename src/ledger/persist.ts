/** Repeating what a database that is away for a moment could not do. Design section 5; T67, T68. */
import { GatewayError } from "../base/errors.ts";
import { isTransient } from "../storage/index.ts";

/** Within it a restarting database comes back unnoticed; a reservation's caller is still waiting for its answer. */
export const reserveRetryMs = 3_000;
/** The answer has been earned by now, and giving up would lose its charge. */
export const settleRetryMs = 30_000;

/** True where a failure lies with the database and not with one item of a batch. */
export const isShared = (error: unknown): boolean =>
  error instanceof GatewayError || isTransient(error);

const uniqueViolation = "23505";
/** A statement that had no answer comes through once; two of one turn may do so one after the other. */
const duplicatesMax = 3;

const isDuplicate = (error: unknown): boolean =>
  error instanceof Error && (error as { code?: unknown }).code === uniqueViolation;

/**
 * Runs `work`, and again where a statement that had no answer came through in between: what it wrote is there then, and
 * `work` is told to look for it (`again`). `again` is what the first run is told.
 */
export async function afterDuplicates<T>(
  again: boolean,
  work: (again: boolean) => Promise<T>,
): Promise<T> {
  for (let duplicates = 1; ; duplicates += 1) {
    try {
      return await work(again || duplicates > 1);
    } catch (error) {
      if (!isDuplicate(error) || duplicates > duplicatesMax) throw error;
    }
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
  const deadline = performance.now() + retryMs;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work(attempt);
    } catch (error) {
      if (!isTransient(error)) throw error;
      const waitMs = Math.min(50 * 2 ** attempt, 1_000);
      if (performance.now() + waitMs > deadline) {
        throw new GatewayError("database_unavailable", "The ledger's database is not reachable.", {
          retryAfterSeconds: 2,
          cause: error,
        });
      }
      await new Promise((resume) => setTimeout(resume, waitMs));
    }
  }
}
