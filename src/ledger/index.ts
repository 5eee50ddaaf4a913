/** The ledger: reserve, post, void, expire; caps; balances; verify. Design section 5. */
export { createBatcher, type Batcher } from "./batch.ts";
export {
  chargeExpiredIn,
  creditIn,
  postIn,
  reserveAllIn,
  reserveIn,
  voidIn,
} from "./in-transaction.ts";
export { createLedger, type Ledger } from "./ledger.ts";
export { persist, reserveRetryMs, settleRetryMs } from "./persist.ts";
export { resetsAt, windows, type Layer, type Window } from "./periods.ts";
export { refusalError } from "./refusal.ts";
export { amountNanoMax, type QueueLimits } from "./statements.ts";
export type {
  Balance,
  CreditInput,
  CreditResult,
  Entry,
  EntryPage,
  ExtendInput,
  HoldName,
  PostInput,
  PostResult,
  ReserveInput,
  ReserveResult,
  Spend,
  VoidResult,
} from "./types.ts";
export { differencesIn, verifyLedger, type Difference } from "./verify.ts";
