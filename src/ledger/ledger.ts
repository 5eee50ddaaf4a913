/** The ledger of one gateway: what may begin, what it cost, and what is left. docs/ledger.md. */
import { isTransient, persist, settleRetryMs, type Database } from "../storage/index.ts";
import { checkAmount } from "./amounts.ts";
import { readBalance } from "./balance.ts";
import type { BatchWatch } from "./batch.ts";
import { creditIn } from "./credit.ts";
import { extendHolds, settleIn } from "./holds.ts";
import { openTextCalls } from "./text-calls.ts";
import type {
  Balance,
  CallName,
  CreditInput,
  CreditResult,
  ReserveInput,
  ReserveResult,
  SettleResult,
} from "./types.ts";

export interface Ledger {
  /** Decides everything that can refuse a text call, and sets its bound aside. @throws GatewayError database_unavailable */
  reserve(input: ReserveInput): Promise<ReserveResult>;
  /** Charges what a text call cost, once. @throws GatewayError database_unavailable, after long tries */
  post(input: CallName & { readonly amountNano: bigint }): Promise<SettleResult>;
  /** Ends a text call, or a hold, and charges nothing. @throws GatewayError database_unavailable, after long tries */
  void(input: CallName): Promise<SettleResult>;
  /** Keeps holds of images from the sweeper for another `leaseMs` from now. */
  extend(holds: readonly CallName[], leaseMs: number): Promise<void>;
  /** Adds credit, or takes it back, once per reference. @throws GatewayError not_found, conflict */
  credit(input: CreditInput): Promise<CreditResult>;
  /** @throws GatewayError not_found */
  balance(workspaceId: string): Promise<Balance>;
  /** Takes back what gateways that died had set aside, and ends holds past their lease; returns how many. Any number may sweep. */
  expire(): Promise<number>;
  /** Resolves when everything under way is settled; nothing may begin after it. */
  close(): Promise<void>;
}

export interface LedgerOptions {
  /** For how long what a gateway has set aside outlives it; 60 s where absent. */
  readonly leaseMs?: number | undefined;
  /** Hears of each batch of text calls. */
  readonly watch?: BatchWatch | undefined;
}

const leaseMsDefault = 60_000;
const expireMax = 500;

/** A ledger over `database`, whose clock is the ledger's. */
export function createLedger(database: Database, options: LedgerOptions = {}): Ledger {
  const { leaseMs = leaseMsDefault, watch } = options;
  // Opened by the first call: commands have none, and need not listen to changes.
  let opened: ReturnType<typeof openTextCalls> | undefined;
  const settle = async (name: CallName, charge: bigint | null): Promise<boolean> =>
    opened !== undefined && (await opened.calls.settle(name, charge));
  const unknown: SettleResult = { outcome: "unknown", chargedNano: 0n, isLate: false };
  return {
    reserve(input) {
      checkAmount(input.amountNano);
      opened ??= openTextCalls(database, { leaseMs, watch });
      return opened.calls.reserve(input);
    },
    async post({ id, workspaceId, amountNano }) {
      checkAmount(amountNano);
      if (!(await settle({ id, workspaceId }, amountNano))) return unknown;
      return { outcome: "posted", chargedNano: amountNano, isLate: false };
    },
    async void(name) {
      if (await settle(name, null)) return { outcome: "voided", chargedNano: 0n, isLate: false };
      return persist(settleRetryMs, () => settleIn(database, name, null));
    },
    extend: (holds, holdLeaseMs) => extendHolds(database, holds, holdLeaseMs),
    credit: (input) => creditIn(database, input),
    balance: (workspaceId) => readBalance(database, workspaceId),
    expire: async () => (await expireGateways(database)) + (await expireHolds(database)),
    async close() {
      if (opened === undefined) return;
      await opened.close();
      // What is left of its headroom goes back at once: its last batch ended its lease.
      const { gateway } = opened.calls;
      await database.query("select ledger_expire($1)", [gateway]).catch(() => undefined);
    },
  };
}

/** Gateways whose leases ran out; those that are busy are left for the next time. */
async function expireGateways(database: Database): Promise<number> {
  const lapsed = await database.query<{ gateway: string }>(
    `select gateway from ledger_lanes
     group by gateway having not bool_and(lapsed) and bool_and(lease_until < ledger_now())`,
    [],
  );
  let expired = 0;
  for (const { gateway } of lapsed) {
    try {
      const [row] = await database.query<{ expired: boolean }>(
        "select ledger_expire($1) as expired",
        [gateway],
      );
      if (row?.expired === true) expired += 1;
    } catch (error) {
      if (!isTransient(error)) throw error;
    }
  }
  await database.query(
    `delete from ledger_lanes l where l.lease_until < ledger_now() - interval '1 day'
       and not exists (select from ledger_allowances a where a.gateway = l.gateway)`,
    [],
  );
  return expired;
}

async function expireHolds(database: Database): Promise<number> {
  for (let expired = 0; ;) {
    const [row] = await database.query<{ count: number }>(
      "select ledger_expire_holds($1) as count",
      [expireMax],
    );
    const count = row?.count ?? 0;
    if (count === 0) return expired;
    expired += count;
  }
}
