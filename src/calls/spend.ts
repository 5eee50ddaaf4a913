/**
 * The money side of one call: reserve before it runs, post or release exactly once after.
 * Requirements: BILL; docs/decisions.md "Text reservation", docs/decisions.md "Spend caps"; docs/ledger.md.
 */
import type { Log } from "../base/log.ts";
import type { NanoUsd } from "../base/money.ts";
import {
  refusalError,
  type Ledger,
  type ReserveInput,
  type SettleResult,
} from "../ledger/index.ts";
import {
  postQueuedHold,
  reserveQueuedHold,
  type Beside,
  type HoldDatabase,
} from "./queued-holds.ts";

/** A reservation that is open: the call is running. */
export interface Hold {
  readonly id: string;
  readonly workspaceId: string;
}

/** The key a call spends from, and which of its values the caller used. */
type CallingKey = Pick<ReserveInput, "keyId" | "keyRotation">;

export interface Spend {
  /** Reserves an upper bound. @throws GatewayError 401, 402 or 403 with what ran out, 503 without a database. */
  reserve(hold: Hold, key: CallingKey, amountNano: NanoUsd): Promise<void>;
  /** Charges the actual amount and releases the rest. @throws GatewayError `database_unavailable` when it cannot be committed. */
  post(hold: Hold, amountNano: NanoUsd): Promise<NanoUsd>;
  /**
   * Reserves for an image call, which counts in the queue. What `beside` throws, nothing is kept of.
   * @throws GatewayError as `reserve` does, or `queue_full`
   */
  reserveQueued(hold: Hold, key: CallingKey, amountNano: NanoUsd, beside: Beside): Promise<void>;
  /** Charges such a call. @throws GatewayError `database_unavailable`; what `beside` throws */
  postQueued(hold: Hold, amountNano: NanoUsd, beside: Beside): Promise<NanoUsd>;
  /** Releases the whole hold; nothing is charged. Never throws: a hold that cannot be released now ends with its lease. */
  release(hold: Hold): Promise<void>;
  /** Stops extending leases. Open holds then end with their lease. */
  close(): void;
}

interface SpendOptions extends HoldDatabase {
  /** How long the hold of an image call outlives the process that took it. Open calls extend theirs. */
  readonly leaseMs: number;
  readonly log: Log;
}

/** Spending over a ledger. Holds of open image calls have their leases extended at a third of the lease. */
export function createSpend(ledger: Ledger, options: SpendOptions): Spend {
  const { leaseMs, log } = options;
  /** Open image calls: they have holds of their own. */
  const open = new Map<string, Hold>();
  const timer = setInterval(() => {
    ledger
      .extend([...open.values()], leaseMs)
      .catch((error: unknown) => log.warn({ err: error }, "leases could not be extended"));
  }, leaseMs / 3);
  timer.unref();

  return {
    async reserve({ id, workspaceId }, { keyId, keyRotation }, amountNano) {
      const result = await ledger.reserve({ id, workspaceId, keyId, keyRotation, amountNano });
      const refusal = refusalError(result, amountNano);
      if (refusal) throw refusal;
    },
    async post({ id, workspaceId }, amountNano) {
      const hold = { id, workspaceId };
      return chargedBy(log, hold, await ledger.post({ ...hold, amountNano }));
    },
    async reserveQueued(hold, { keyId, keyRotation }, amountNano, beside) {
      const input = { ...hold, keyId, keyRotation, amountNano, leaseMs };
      await reserveQueuedHold(options, input, beside);
      open.set(hold.id, hold);
    },
    async postQueued(hold, amountNano, beside) {
      const result = await postQueuedHold(options, { ...hold, amountNano }, beside);
      open.delete(hold.id);
      return chargedBy(log, hold, result);
    },
    async release(hold) {
      open.delete(hold.id);
      try {
        await ledger.void(hold);
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

/** What was charged, as the ledger tells it; nothing where the hold is gone. */
function chargedBy(log: Log, hold: Hold, { outcome, chargedNano, isLate }: SettleResult): NanoUsd {
  if (outcome === "posted" || outcome === "already_posted") {
    if (isLate) log.warn({ hold: hold.id }, "a call outlived its lease; it was charged after it");
    return chargedNano;
  }
  const message = "a finished call found its hold gone; nothing was charged";
  log.error({ hold: hold.id, outcome }, message);
  return 0n;
}
