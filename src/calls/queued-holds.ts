/**
 * Holds of image calls: each in a transaction of its own, because it counts in the queue and is decided together with other
 * rows of its call. Requirements: ERR (503); docs/decisions.md "Queue limits", docs/decisions.md "Idempotency".
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { NanoUsd } from "../base/money.ts";
import {
  idleRetryMs,
  idleWaitMs,
  refusalError,
  reserveIn,
  settleIn,
  type HoldInput,
  type QueueLimits,
  type SettleResult,
} from "../ledger/index.ts";
import {
  holdRetryMs,
  persist,
  settleRetryMs,
  type Database,
  type Queryable,
} from "../storage/index.ts";

/** What a call writes beside its hold, in the same transaction and before it; it may run again. */
export type Beside = (tx: Queryable) => Promise<void>;

export interface HoldDatabase {
  readonly database: Database;
  readonly queue: QueueLimits;
}

/** The call is refused, and may fit in a moment; its transaction is undone. */
class NotYetError extends Error {}

/** Reserves. @throws GatewayError what refuses the call; then nothing is kept */
export async function reserveQueuedHold(
  { database, queue }: HoldDatabase,
  input: Omit<HoldInput, "kind">,
  beside: Beside,
): Promise<void> {
  const idleUntilMs = performance.now() + idleWaitMs;
  const attempt = (): Promise<void> =>
    // An attempt whose answer was lost may have been committed: `reserved` is what it answers then too.
    persist(holdRetryMs, () =>
      database.transaction(async (tx) => {
        await beside(tx);
        const result = await reserveIn(tx, { ...input, kind: "image" }, queue);
        if (result.outcome === "reserved") return;
        if (result.mayFitSoon === true && performance.now() < idleUntilMs) throw new NotYetError();
        throw refusalError(result, input.amountNano);
      }),
    );
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof NotYetError)) throw error;
      await sleep(idleRetryMs);
    }
  }
}

/** Charges. @throws GatewayError `database_unavailable` */
export function postQueuedHold(
  { database }: HoldDatabase,
  input: { readonly id: string; readonly workspaceId: string; readonly amountNano: NanoUsd },
  beside: Beside,
): Promise<SettleResult> {
  return persist(settleRetryMs, () =>
    database.transaction(async (tx) => {
      await beside(tx);
      return settleIn(tx, input, input.amountNano);
    }),
  );
}
