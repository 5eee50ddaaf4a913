/**
 * The two-phase ledger: reserve, then post or void; exactly once, under any crash, on any number of nodes.
 * Design section 5. Every operation is safe to repeat: a second one of the same id is a named result.
 */
import type { Clock } from "../base/clock.ts";
import { GatewayError } from "../base/errors.ts";
import type { Database } from "../storage/index.ts";
import { createBatcher } from "./batch.ts";
import { chargeExpiredIn, creditIn } from "./in-transaction.ts";
import type { Layer } from "./periods.ts";
import { isShared, persist, reserveRetryMs, settleRetryMs } from "./persist.ts";
import { createPooledCalls, type PooledCalls } from "./pooled.ts";
import type { Settled } from "./pools.ts";
import { readBalance, readEntries, readSpend } from "./read.ts";
import {
  checkAmount,
  extendBatch,
  postResult,
  turnBatch,
  voidBatch,
  voidResult,
} from "./statements.ts";
import { createTurns, type Gathering, type Turn } from "./turns.ts";
import type {
  Balance,
  CreditInput,
  CreditResult,
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

export interface Ledger {
  /** Decides everything that can refuse a call, and holds its upper bound. @throws GatewayError database_unavailable */
  reserve(input: ReserveInput): Promise<ReserveResult>;
  /** Charges the actual cost and releases the hold. @throws GatewayError database_unavailable, after long tries */
  post(input: PostInput): Promise<PostResult>;
  /** Releases the hold and charges nothing. @throws GatewayError database_unavailable, after long tries */
  void(input: HoldName): Promise<VoidResult>;
  /**
   * Charges a call whose hold was expired while it still ran (a jump of the clock, a paused process); once, whatever
   * comes again. `unknown_hold` where the hold was not expired. @throws GatewayError database_unavailable, after long tries
   */
  chargeExpired(input: PostInput): Promise<PostResult>;
  /** Keeps a hold from the sweeper for another `leaseMs` from now; false when it is not open any more. */
  extend(input: ExtendInput): Promise<boolean>;
  /** Keeps all that pooled calls hold from the sweeper for another `leaseMs` from now. */
  extendPools(leaseMs: number): Promise<void>;
  /** Adds credit, or takes it back, once per reference. @throws GatewayError not_found, conflict */
  credit(input: CreditInput): Promise<CreditResult>;
  /** @throws GatewayError not_found */
  balance(workspaceId: string): Promise<Balance>;
  /** What a workspace, or a member (user id) or key of it, has been charged by now. */
  spend(workspaceId: string, scope?: { layer: Layer; id: string }): Promise<Spend>;
  /** Entries newest first; `limit` is 50 when absent, at most 1000. */
  entries(workspaceId: string, page?: { cursor?: string; limit?: number }): Promise<EntryPage>;
  /** Voids the holds that are past their lease; returns of how many calls. Any number of sweepers may run. */
  expireHolds(): Promise<number>;
  /** Resolves when everything under way is settled. */
  close(): Promise<void>;
}

const batchMax = 500;
const expireMax = 500;

// Ids are unique almost by themselves; two of one id in different workspaces only wait for each other.
const identity = (item: HoldName) => item.id;
const shared = { sizeMax: () => batchMax, identity, isShared };

function createBatchers(database: Database, clock: Clock) {
  const gathering: Gathering = { reserves: () => 0, posts: () => 0 };
  const turns = createTurns(
    (turn: Turn<readonly ReserveInput[], readonly PostInput[]>) =>
      turnBatch(database, turn, clock.now()),
    gathering,
  );
  const batchers = {
    reserve: createBatcher<ReserveInput, ReserveResult>({
      ...shared,
      run: (items) =>
        persist(reserveRetryMs, async (attempt) => {
          const results = await turns.reserve(items);
          if (attempt === 1) return results;
          // An earlier attempt may have been committed before its answer was lost.
          return results.map((result) =>
            result.outcome === "already_reserved" ? { outcome: "reserved" } : result,
          );
        }),
    }),
    post: createBatcher<PostInput, PostResult>({
      ...shared,
      run: (items) => persist(settleRetryMs, () => turns.post(items)),
    }),
    void: createBatcher<HoldName, VoidResult>({
      ...shared,
      run: (items) => persist(settleRetryMs, () => voidBatch(database, items, clock.now())),
    }),
    extend: createBatcher<ExtendInput, boolean>({
      ...shared,
      run: (items) => persist(settleRetryMs, () => extendBatch(database, items, clock.now())),
    }),
  };
  gathering.reserves = () => batchers.reserve.waiting();
  gathering.posts = () => batchers.post.waiting();
  return batchers;
}

async function expireHolds(database: Database, nowMs: number): Promise<number> {
  let expired = 0;
  for (;;) {
    const [row] = await database.query<{ count: number }>("select ledger_expire($1, $2) as count", [
      new Date(nowMs).toISOString(),
      expireMax,
    ]);
    const count = row?.count ?? 0;
    if (count === 0) return expired;
    expired += count;
  }
}

/** As {@link PooledCalls.settle}; a void that fails is not tried again, so its call must not keep its pool alive. */
async function voidPooled(pooled: PooledCalls, name: HoldName): Promise<Settled | undefined> {
  try {
    return await pooled.settle(name, null);
  } catch (error) {
    pooled.abandon(name);
    throw error;
  }
}

/** A ledger over `database`; caps, leases and entries take their time from `clock`. */
export function createLedger(database: Database, clock: Clock): Ledger {
  const batchers = createBatchers(database, clock);
  const pooled = createPooledCalls(database, clock);
  return {
    async reserve(input) {
      checkAmount(input.amountNano);
      if (input.pooled === true) {
        if (pooled.poolOf(input) !== undefined) return { outcome: "already_reserved" };
        if (await pooled.reserve(input)) return { outcome: "reserved", pooled: true };
      }
      return batchers.reserve.add(input);
    },
    async post(input) {
      checkAmount(input.amountNano);
      const settled = await pooled.settle(input, input.amountNano);
      if (settled === undefined) return batchers.post.add(input);
      if (settled === "settled") return { outcome: "posted", chargedNano: input.amountNano };
      if (settled === "expired") return postResult("expire", null);
      return postResult(settled.entry_kind, settled.amount_nano);
    },
    async void(input) {
      const settled = await voidPooled(pooled, input);
      if (settled === undefined) return batchers.void.add(input);
      if (settled === "settled") return { outcome: "voided" };
      return voidResult(settled === "expired" ? "expire" : settled.entry_kind);
    },
    chargeExpired: (input) =>
      persist(settleRetryMs, () => chargeExpiredIn(database, input, clock.now())),
    extend(input) {
      const id = pooled.poolOf(input)?.id ?? input.id;
      return batchers.extend.add({ ...input, id });
    },
    async extendPools(leaseMs) {
      const extended = Array.from(pooled.live(), ({ id, workspaceId }) =>
        batchers.extend.add({ id, workspaceId, leaseMs }),
      );
      await Promise.all(extended);
    },
    credit: (input) => creditIn(database, input, clock.now()),
    async balance(workspaceId) {
      const balance = await readBalance(database, workspaceId);
      if (balance === undefined)
        throw new GatewayError("not_found", `No such workspace: ${workspaceId}.`);
      return balance;
    },
    spend: (workspaceId, scope = { layer: "workspace", id: workspaceId }) =>
      readSpend(database, workspaceId, scope, clock.now()),
    entries: (workspaceId, page = {}) =>
      readEntries(database, workspaceId, {
        cursor: page.cursor,
        limit: Math.min(page.limit ?? 50, 1000),
      }),
    expireHolds: () => expireHolds(database, clock.now()),
    async close() {
      await pooled.idle();
      await Promise.all(Object.values(batchers).map((batcher) => batcher.idle()));
    },
  };
}
