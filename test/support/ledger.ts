/** A ledger with two operations that tests need often: adding credit and reading the balance. */
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

/** Adds these operations to a ledger. */
export const withAccounts = (database: Database, ledger: Ledger): TestLedger => ({
  ...ledger,
  credit: (input) => creditIn(database, input),
  balance: async (workspaceId) => (await readBalances(database, [workspaceId])).get(workspaceId)!,
});

/** A ledger on a database, with these operations. */
export const createLedger = (
  database: Database,
  options?: Parameters<typeof createBare>[1],
): TestLedger => withAccounts(database, createBare(database, options));
