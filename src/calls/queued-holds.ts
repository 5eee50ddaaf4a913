/**
 * Holds of image calls: each in a transaction of its own, because it counts in the queue and is decided together with other
 * rows of its call. Spec: "Errors" 2 (503); decisions.md "queue limits", "idempotency".
 */
import type { Clock } from "../base/clock.ts";
import type { NanoUsd } from "../base/money.ts";
import {
  chargeExpiredIn,
  persist,
  postIn,
  refusalError,
  reserveIn,
  reserveRetryMs,
  settleRetryMs,
  type PostResult,
  type QueueLimits,
  type ReserveInput,
} from "../ledger/index.ts";
import type { Database, Queryable } from "../storage/index.ts";

/** What a call writes beside its hold, in the same transaction and before it; it may run again. */
export type Beside = (tx: Queryable) => Promise<void>;

export interface HoldDatabase {
  readonly database: Database;
  readonly clock: Clock;
  readonly queue: QueueLimits;
}

/** Reserves. @throws GatewayError what refuses the call; then nothing is kept */
export async function reserveQueuedHold(
  { database, clock, queue }: HoldDatabase,
  input: Omit<ReserveInput, "kind">,
  beside: Beside,
): Promise<void> {
  // An attempt whose answer was lost may have been committed: `already_reserved` is granted too.
  await persist(reserveRetryMs, () =>
    database.transaction(async (tx) => {
      await beside(tx);
      const result = await reserveIn(tx, { ...input, kind: "image" }, clock.now(), queue);
      const refusal = refusalError(result, input.amountNano);
      if (refusal) throw refusal;
    }),
  );
}

/** Charges; `isLate` where the hold had expired while its call still ran. @throws GatewayError `database_unavailable` */
export function postQueuedHold(
  { database, clock }: HoldDatabase,
  input: { readonly id: string; readonly workspaceId: string; readonly amountNano: NanoUsd },
  beside: Beside,
): Promise<{ readonly result: PostResult; readonly isLate: boolean }> {
  return persist(settleRetryMs, () =>
    database.transaction(async (tx) => {
      await beside(tx);
      const result = await postIn(tx, input, clock.now());
      const isLate = result.outcome === "already_voided";
      return isLate
        ? { result: await chargeExpiredIn(tx, input, clock.now()), isLate }
        : { result, isLate };
    }),
  );
}
