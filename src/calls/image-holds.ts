/**
 * The holds of image calls, which are their money: each call has its own, taken before it runs and ended exactly once afterwards. Text
 * calls have none: `Ledger.spend` does all of theirs. Each step is a separate transaction of the call, because the call counts in the queue
 * and is committed together with other rows of it.
 * Requirements: BILL, ERR (503); docs/decisions.md "Spend caps", docs/decisions.md "Queue limits", docs/decisions.md "Idempotency";
 * docs/ledger.md.
 */
import type { Log } from "../base/log.ts";
import type { NanoUsd } from "../base/money.ts";
import {
  extendHolds,
  reserveIn,
  settleIn,
  type HoldInput,
  type HoldRefusal,
  type QueueLimits,
  type Settled,
} from "../ledger/index.ts";
import {
  holdRetryMs,
  retryWhileAway,
  settleRetryMs,
  type Database,
  type Queryable,
} from "../storage/index.ts";
import { retryUntilFits, type Tried } from "../tasks/index.ts";

/** An open reservation of a running call. */
export interface Hold {
  readonly id: string;
  readonly workspaceId: string;
}

/** The key that a call spends from, and the index of the value that the caller used. */
type CallingKey = Pick<HoldInput, "keyId" | "keyRotation">;

/** Writes rows beside the hold, in the same transaction and before it; it may run again. */
type Beside = (tx: Queryable) => Promise<void>;

export interface ImageHolds {
  /**
   * Reserves an upper bound. If `beside` throws, the transaction is rolled back.
   * @throws GatewayError 401, 402 or 403 naming what ran out, `queue_full`, 503 without a database
   */
  reserve(hold: Hold, key: CallingKey, amountNano: NanoUsd, beside: Beside): Promise<void>;
  /** Charges the actual amount and releases the rest. @throws GatewayError `database_unavailable`; errors of `beside` */
  charge(hold: Hold, amountNano: NanoUsd, beside: Beside): Promise<NanoUsd>;
  /** Releases the whole hold; nothing is charged. Never throws: a hold that cannot be released now ends with its lease. */
  release(hold: Hold): Promise<void>;
  /** Stops extending leases. Open holds then end with their lease. */
  close(): void;
}

interface ImageHoldsOptions {
  readonly database: Database;
  readonly queue: QueueLimits;
  /** How long, in ms, the hold of an image call outlives the process that took it. Open calls extend theirs. */
  readonly leaseMs: number;
  readonly log: Log;
}

/** Leases of open calls are extended after each third of the lease time. */
export function createImageHolds(options: ImageHoldsOptions): ImageHolds {
  const { database, leaseMs, log } = options;
  const open = new Map<string, Hold>();
  const timer = setInterval(() => {
    extendHolds(database, [...open.values()], leaseMs).catch((error: unknown) =>
      log.warn({ err: error }, "leases could not be extended"),
    );
  }, leaseMs / 3);
  timer.unref();

  return {
    async reserve(hold, { keyId, keyRotation }, amountNano, beside) {
      const input = { ...hold, keyId, keyRotation, amountNano, leaseMs };
      await reserveHold(options, input, beside);
      open.set(hold.id, hold);
    },
    async charge(hold, amountNano, beside) {
      const settled = await retryWhileAway(settleRetryMs, () =>
        database.transaction(async (tx) => {
          await beside(tx);
          return settleIn(tx, hold, amountNano);
        }),
      );
      open.delete(hold.id);
      return chargedBy(log, hold, settled);
    },
    async release(hold) {
      open.delete(hold.id);
      try {
        await retryWhileAway(settleRetryMs, () => settleIn(database, hold, null));
      } catch (error) {
        log.warn(
          { err: error, hold: hold.id },
          "a hold could not be released; it ends with its lease",
        );
      }
    },
    close: () => clearInterval(timer),
  };
}

/** The amount that the ledger charged; 0 if the hold is gone. */
function chargedBy(log: Log, hold: Hold, settled: Settled | undefined): NanoUsd {
  if (settled?.kind === "charge") {
    if (settled.isLate)
      log.warn({ hold: hold.id }, "a call outlived its lease; it was charged after it");
    return settled.amountNano;
  }
  const message = "a finished call found its hold gone; nothing was charged";
  log.error({ hold: hold.id, entry: settled?.kind }, message);
  return 0n;
}

/** The ledger refuses the call; throwing this rolls its transaction back. */
class RefusedError extends Error {
  readonly refusal: HoldRefusal;
  constructor(refusal: HoldRefusal) {
    super();
    this.refusal = refusal;
  }
}

/** Reserves a hold. @throws GatewayError that refuses the call; then nothing is stored */
async function reserveHold(
  { database, queue }: ImageHoldsOptions,
  input: Omit<HoldInput, "kind">,
  beside: Beside,
): Promise<void> {
  const attempt = (): Promise<Tried<void>> =>
    // An attempt whose answer was lost may have been committed. Its retry then succeeds too.
    retryWhileAway(holdRetryMs, () =>
      database.transaction(async (tx) => {
        await beside(tx);
        const [refusal] = await reserveIn(tx, [{ ...input, kind: "image" }], queue);
        if (refusal !== undefined) throw new RefusedError(refusal);
        return { made: undefined };
      }),
    ).catch((error: unknown) => {
      if (error instanceof RefusedError) return { refusal: error.refusal };
      throw error;
    });
  await retryUntilFits(attempt);
}
