/** The ledger: what may begin, what it cost, what is left. docs/ledger.md. */
export type { BatchWatch } from "./batch.ts";
export * from "./credit.ts";
export * from "./holds.ts";
export { createLedger, type Ledger } from "./ledger.ts";
export { idleRetryMs, idleWaitMs } from "./refusal.ts";
export type { ReserveInput, Spent } from "./types.ts";
