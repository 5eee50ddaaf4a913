/** The text calls of one gateway, and the sweeping up after gateways and holds that ended without a word. docs/ledger.md. */
import { retry } from "../base/retry.ts";
import { Confirmed, isTransient, type Database, type LostCommits } from "../storage/index.ts";
import { sendTo, type BatchWatch } from "./batch.ts";
import { systemLaneClock, type LaneOptions } from "./lane.ts";
import { TextCalls } from "./text-calls.ts";
import type { ReserveInput, Spent } from "./types.ts";

export interface Ledger {
  /**
   * The money of a text call, around its `work`: decides everything that can refuse it and sets its bound aside, lets the work run, and
   * charges what that says. Resolves with what the work came to when the charge is committed and the rest released; work that throws, or
   * says null, is charged nothing.
   * @throws GatewayError what refuses the call (401, 402, 403), before any work; database_unavailable, before or after it; what `work` throws
   */
  spend<Done extends Spent>(input: ReserveInput, work: () => Promise<Done>): Promise<Done>;
  /** Takes back what gateways that died had set aside, and ends holds past their lease; returns how many. Any number may sweep. */
  expire(): Promise<number>;
  /** Resolves when everything under way is settled; nothing may begin after it. */
  close(): Promise<void>;
}

/** The lease is 60 s where it is absent. */
export interface LedgerOptions extends Partial<Pick<LaneOptions, "leaseMs" | "sharesCore">> {
  /** Hears of each batch of text calls. */
  readonly watch?: BatchWatch | undefined;
  /** Hears that the database lost what it had confirmed. */
  readonly lost?: ((lost: LostCommits) => void) | undefined;
}

const expireMax = 500;
/** A connection that is lost at the end is no reason to leave money held; a database that is away does not keep a gateway from stopping. */
const giveBackRule = { forMs: 1_000, mayPass: isTransient };
const endLeasesSql = "update ledger_lanes set lease_until = ledger_now() where gateway = $1";

/** A ledger over `database`, whose clock is the ledger's. It hears of changes by the database's signals. */
export function createLedger(database: Database, options: LedgerOptions = {}): Ledger {
  const { leaseMs = 60_000, sharesCore, watch, lost } = options;
  const { signals } = database;
  // In one transaction: no lane takes a new lease in between.
  const giveBack = (): Promise<void> =>
    database.transaction(async (tx) => {
      await tx.query(endLeasesSql, [calls.gateway]);
      await expireGateway(tx, calls.gateway);
    });
  const send = sendTo(database, watch, new Confirmed({ giveBack, told: lost }));
  const calls: TextCalls = new TextCalls({ leaseMs, send, clock: systemLaneClock, sharesCore });
  const endings = [
    signals.subscribe("keys", (id) => calls.distrust(({ keyId }) => keyId === id)),
    signals.subscribe("workspaces", (id) => calls.distrust((key) => key.workspaceId === id)),
    signals.onReconnect(() => calls.distrust(() => true)),
  ];
  const beat = setInterval(() => calls.heartbeat(), leaseMs / 3).unref();
  return {
    spend: (input, work) => calls.spend(input, work),
    expire: async () => (await expireGateways(database)) + (await expireHolds(database)),
    async close() {
      clearInterval(beat);
      for (const end of endings) end();
      await calls.close();
      // What is left of its headroom goes back at once; else a sweeper finds it. Lanes of workspaces that came back have a lease of their own.
      await retry(giveBackRule, giveBack).catch(() => undefined);
    },
  };
}

/** What a gateway had set aside goes back; false where its lease lasts. */
async function expireGateway(database: Pick<Database, "query">, gateway: string): Promise<boolean> {
  const sql = "select ledger_expire($1) as expired";
  const [row] = await database.query<{ expired: boolean }>(sql, [gateway]);
  return row!.expired;
}

/** Gateways whose leases ran out; those that are busy are left for the next time. */
async function expireGateways(database: Database): Promise<number> {
  const lapsed = await database.query<{ gateway: string }>(
    `select gateway from ledger_lanes
     group by gateway having not bool_and(lapsed) and bool_and(lease_until < ledger_now())`,
  );
  let expired = 0;
  for (const { gateway } of lapsed) {
    try {
      if (await expireGateway(database, gateway)) expired += 1;
    } catch (error) {
      if (!isTransient(error)) throw error;
    }
  }
  await database.query(
    `delete from ledger_lanes l where l.lease_until < ledger_now() - interval '1 day'
       and not exists (select from ledger_allowances a where a.gateway = l.gateway)`,
  );
  return expired;
}

async function expireHolds(database: Database): Promise<number> {
  const sql = "select ledger_expire_holds($1) as count";
  const [row] = await database.query<{ count: number }>(sql, [expireMax]);
  return row!.count === 0 ? 0 : row!.count + (await expireHolds(database));
}
