/** The text calls of one gateway, and the sweep of holds and gateways whose leases ran out. docs/ledger.md. */
import { retry } from "../base/retry.ts";
import { CommitTracker, isTransient, type Database, type LostCommits } from "../storage/index.ts";
import { sendTo, type BatchWatch } from "./batch.ts";
import { systemLaneClock, type LaneOptions } from "./lane.ts";
import { TextCalls } from "./text-calls.ts";
import type { ReserveInput, Spent } from "./types.ts";

export interface Ledger {
  /**
   * Runs `work` for a text call and settles its money. First it makes every decision that can refuse the call, and sets the bound aside.
   * After `work` it charges the amount that `work` returns. Resolves with that result when the charge is committed and the rest released.
   * Work that throws, or returns a null amount, is charged nothing.
   * @throws GatewayError what refuses the call (401, 402, 403), before any work; database_unavailable, before or after it; what `work`
   * throws
   */
  spend<Done extends Spent>(input: ReserveInput, work: () => Promise<Done>): Promise<Done>;
  /** Takes back allowances of gateways that died, and ends holds past their lease; returns how many. Several gateways may sweep. */
  expire(): Promise<number>;
  /** Resolves when everything in flight is settled. The caller begins nothing after it. */
  close(): Promise<void>;
}

/** `leaseMs` is 60 s if absent. */
export interface LedgerOptions extends Partial<Pick<LaneOptions, "leaseMs" | "sharesCore">> {
  /** Called with each batch of text calls. */
  readonly watch?: BatchWatch | undefined;
  /** Called when the database lost commits that it had confirmed. */
  readonly lost?: ((lost: LostCommits) => void) | undefined;
}

const expireMax = 500;
/** Retries, so that a lost connection leaves no money held; only for 1 s, so that a database that is away does not delay the stop. */
const giveBackRule = { forMs: 1_000, mayPass: isTransient };
const endLeasesSql = "update ledger_lanes set lease_until = ledger_now() where gateway = $1";
/** Shortens leases from before the database's clock was set back. The minute is as long as a new lease, so living gateways keep theirs. */
const clipLeasesSql = `update ledger_lanes set lease_until = ledger_now() + interval '1 minute'
  where lease_until > ledger_now() + interval '10 minutes'`;

/** Creates a ledger on `database`. It uses the database's clock, and learns of changes through the database's signals. */
export function createLedger(database: Database, options: LedgerOptions = {}): Ledger {
  const { leaseMs = 60_000, sharesCore, watch, lost } = options;
  const { signals } = database;
  // One transaction, so that no lane takes a new lease in between.
  const giveBack = (): Promise<void> =>
    database.transaction(async (tx) => {
      await tx.query(endLeasesSql, [calls.gateway]);
      await expireGateway(tx, calls.gateway);
    });
  const send = sendTo(database, watch, new CommitTracker({ giveBack, onLost: lost }));
  const calls: TextCalls = new TextCalls({ leaseMs, send, clock: systemLaneClock, sharesCore });
  const endings = [
    signals.subscribe("keys", (id) => calls.invalidate(({ keyId }) => keyId === id)),
    signals.subscribe("workspaces", (id) => calls.invalidate((key) => key.workspaceId === id)),
    signals.onReconnect(() => calls.invalidate(() => true)),
  ];
  const beat = setInterval(() => calls.heartbeat(), leaseMs / 3).unref();
  return {
    spend: (input, work) => calls.spend(input, work),
    expire: async () => (await expireGateways(database)) + (await expireHolds(database)),
    async close() {
      clearInterval(beat);
      for (const end of endings) end();
      await calls.close();
      // Give headroom back now, not when a sweeper finds it. Lanes that were closed earlier may have a lease too.
      await retry(giveBackRule, giveBack).catch(() => undefined);
    },
  };
}

/** Takes back a gateway's allowances; returns false if its lease still lasts. */
async function expireGateway(database: Pick<Database, "query">, gateway: string): Promise<boolean> {
  const sql = "select ledger_expire($1) as expired";
  const [row] = await database.query<{ expired: boolean }>(sql, [gateway]);
  return row!.expired;
}

/** Expires gateways whose leases ran out; returns how many. After a transient error a gateway waits for the next sweep. */
async function expireGateways(database: Database): Promise<number> {
  await database.query(clipLeasesSql);
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
