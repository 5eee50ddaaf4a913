/** The ledger: what may begin, what it cost, what is left. docs/ledger.md. */
export { amountNanoMax } from "./amounts.ts";
export type { BatchWatch } from "./batch.ts";
export { entryId } from "./balance.ts";
export { creditIn } from "./credit.ts";
export { idleRetryMs, idleWaitMs } from "./decide.ts";
export { extendHolds, reserveAllIn, reserveIn, settleIn } from "./holds.ts";
export { createLedger, type Ledger } from "./ledger.ts";
export { resetsAt, type Layer, type Window } from "./periods.ts";
export { refusalError } from "./refusal.ts";
export type {
  CreditResult,
  HoldInput,
  HoldResult,
  QueueLimits,
  ReserveInput,
  SettleResult,
  Spent,
} from "./types.ts";
