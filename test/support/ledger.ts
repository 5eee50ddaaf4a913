/** A ledger with the two operations beside it that tests need at every turn: credit, and what is left. */
import { readBalances, type Balance } from "../../src/admin/reads/balances.ts";
import {
  createLedger as createBare,
  creditIn,
  type CreditInput,
  type CreditResult,
  type Ledger,
} from "../../src/ledger/index.ts";
import type { Database } from "../../src/storage/index.ts";

export interface TestLedger extends Ledger {
  /** Adds credit, or takes it back, once per reference. */
  credit(input: CreditInput): Promise<CreditResult>;
  balance(workspaceId: string): Promise<Balance>;
}

/** The same ledger with them. */
export const withAccounts = (database: Database, ledger: Ledger): TestLedger => ({
  ...ledger,
  credit: (input) => creditIn(database, input),
  balance: async (workspaceId) => (await readBalances(database, [workspaceId])).get(workspaceId)!,
});

/** A ledger over a database, with them. */
export const createLedger = (
  database: Database,
  options?: Parameters<typeof createBare>[1],
): TestLedger => withAccounts(database, createBare(database, options));
