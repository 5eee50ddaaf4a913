/** The ledger: what may begin, what it cost, what is left. docs/ledger.md. */
export { creditIn, entryId, type CreditResult } from "./account.ts";
export { amountNanoMax } from "./amounts.ts";
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
export { resetsAt, type Layer, type Window } from "./periods.ts";
export { idleRetryMs, idleWaitMs } from "./refusal.ts";
export type { ReserveInput, Spent } from "./types.ts";
