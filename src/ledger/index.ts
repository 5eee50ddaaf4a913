/** The ledger: what may begin, what it cost, what is left. docs/ledger.md. */
export * from "./account.ts";
export type { BatchWatch } from "./batch.ts";
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
