/** The ledger: what may begin, what it cost, what is left. docs/ledger.md. */
export type { BatchWatch } from "./batch.ts";
export { creditIn, entryId, type CreditInput, type CreditResult } from "./credit.ts";
export {
  extendHolds,
  reserveIn,
  settleIn,
  type HoldInput,
  type HoldRefusal,
  type QueueLimits,
  type Settled,
} from "./holds.ts";
export { createLedger, type Ledger } from "./ledger.ts";
export { idleRetryMs, idleWaitMs } from "./refusal.ts";
export type { ReserveInput, Spent } from "./types.ts";
