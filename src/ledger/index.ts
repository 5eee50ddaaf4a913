/** The ledger: what may begin, what it cost, what is left; the proof that it adds up. docs/ledger.md. */
export { amountNanoMax } from "./amounts.ts";
export type { BatchWatch } from "./batch.ts";
export { creditIn } from "./credit.ts";
export { idleRetryMs, idleWaitMs } from "./decide.ts";
export { reserveAllIn, reserveIn, settleIn } from "./holds.ts";
export { createLedger, type Ledger, type LedgerOptions } from "./ledger.ts";
export { resetsAt, type Layer, type Window } from "./periods.ts";
export { refusalError } from "./refusal.ts";
export type {
  Balance,
  CallName,
  CreditInput,
  CreditResult,
  Entry,
  EntryPage,
  HoldInput,
  HoldResult,
  QueueLimits,
  ReserveInput,
  ReserveResult,
  SettleResult,
  Spend,
} from "./types.ts";
export type { Difference } from "./difference.ts";
export { differencesIn, verifyLedger } from "./verify.ts";
export { createVerifier, type Verification, type Verifier } from "./verifier.ts";
