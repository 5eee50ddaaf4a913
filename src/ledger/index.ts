/** The ledger: admission of calls, their reservations and charges, and credit. docs/ledger.md. */
export type { BatchWatch } from "./batch.ts";
export * from "./credit.ts";
export * from "./holds.ts";
export { createLedger, type Ledger } from "./ledger.ts";
export { idleRetryMs, idleWaitMs } from "./refusal.ts";
export type { ReserveInput, Spent } from "./types.ts";
