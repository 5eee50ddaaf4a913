/**
 * Pooled holds: calls of one process on one key share one row of `ledger_holds`, which a batch raises and lowers by sums.
 * Design section 5; docs/ledger.md "Pooled holds". Which calls are open, and what each had reserved, only this process knows:
 * after its death the lease of the pool runs out, and all of them are released at once.
 */
import type { Clock } from "../base/clock.ts";
import type { Database } from "../storage/index.ts";
import { createBatcher, type Batcher } from "./batch.ts";
import { isShared } from "./persist.ts";
import { createRaising } from "./pool-raising.ts";
import { createSettling } from "./pool-settling.ts";
import {
  isPlainId,
  pooledTurn,
  type Ending,
  type Pool,
  type RaiseBatch,
} from "./pool-statements.ts";
import { createPools, type PooledCall, type Settled } from "./pools.ts";
import { createTurns, type Turn } from "./turns.ts";
import type { HoldName, ReserveInput } from "./types.ts";

export interface PooledCalls {
  /** True where the call is reserved in a pool; false where it must be decided by itself. @throws GatewayError database_unavailable */
  reserve(input: ReserveInput): Promise<boolean>;
  /** The pool of an open call; undefined where it is none of this process's pooled calls. */
  poolOf(name: HoldName): Pool | undefined;
  /** Ends an open call: charges it, or (null) voids it; undefined as above. @throws GatewayError database_unavailable */
  settle(name: HoldName, chargeNano: bigint | null): Promise<Settled | undefined>;
  /** Gives up a call that could not be settled: what it holds ends with the lease of its pool. */
  abandon(name: HoldName): void;
  /** The pools with open calls: their leases must be extended. */
  live(): Iterable<Pool>;
  /** Resolves when nothing is waiting or under way. */
  idle(): Promise<void>;
}

const batchMax = 500;
/** Where fewer calls are open, one turn may take them all. */
const splitMin = 16;

/**
 * How many calls share a turn when so many are open: at most half of them. Where all did, they would all wait for it, go on
 * together, and meet again in the next, and the process would idle while the server works, and the other way round.
 */
const turnMax = (open: number): number =>
  Math.min(batchMax, Math.max(splitMin, Math.ceil(open / 2)));

/** Ends an open call by the batches of `endings`. */
async function end(
  endings: Batcher<PooledCall, Settled>,
  call: PooledCall,
  chargeNano: bigint | null,
): Promise<Settled> {
  call.chargeNano = chargeNano;
  call.settling = endings.add(call);
  try {
    return await call.settling;
  } catch (error) {
    call.uncertain = true;
    throw error;
  } finally {
    call.settling = undefined;
  }
}

/** The pooled calls of this process on `database`. */
export function createPooledCalls(database: Database, clock: Clock): PooledCalls {
  const calls = new Map<string, PooledCall>();
  const pools = createPools();
  const turns = createTurns(
    async (turn: Turn<RaiseBatch, readonly Ending[]>) => {
      const { refused, gone } = await pooledTurn(database, turn, clock.now());
      return { reserved: refused, posted: gone };
    },
    { reserves: () => reserves.waiting(), posts: () => endings.waiting() },
  );
  const shared = { database, clock, pools, calls };
  const raising = createRaising({ ...shared, send: (batch) => turns.reserve(batch) });
  const settling = createSettling({ ...shared, send: (endings) => turns.post(endings) });
  const reserves = createBatcher<ReserveInput, boolean>({
    sizeMax: (waiting) => turnMax(calls.size + waiting),
    run: raising,
    isShared,
  });
  const endings = createBatcher<PooledCall, Settled>({
    sizeMax: () => turnMax(calls.size),
    run: settling,
    isShared,
  });

  function find({ id, workspaceId }: HoldName): PooledCall | undefined {
    const call = calls.get(id);
    return call?.pool.workspaceId === workspaceId ? call : undefined;
  }

  return {
    reserve(input) {
      const { id, keyId, workspaceId } = input;
      const poolable = isPlainId(id) && isPlainId(keyId) && isPlainId(workspaceId);
      return poolable ? reserves.add(input) : Promise.resolve(false);
    },
    poolOf: (name) => find(name)?.pool,
    async settle(name, chargeNano) {
      for (let call = find(name); call !== undefined; call = find(name)) {
        if (call.settling === undefined) return end(endings, call, chargeNano);
        // Another operation on the same call came first; what it did is found when it is over.
        await call.settling.catch(() => undefined);
      }
      return undefined;
    },
    abandon(name) {
      const call = find(name);
      if (call === undefined || call.settling !== undefined) return;
      calls.delete(call.id);
      pools.retire(call.pool);
      pools.count(call.pool, -1);
    },
    live: () => pools.live(),
    async idle() {
      await reserves.idle();
      await endings.idle();
    },
  };
}
