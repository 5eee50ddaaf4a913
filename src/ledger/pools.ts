/** The pools of one process, and its open pooled calls. Design section 5; docs/ledger.md "Pooled holds". */
import { newId } from "../base/ids.ts";
import type { Ending, Pool, SettledRow } from "./pool-statements.ts";
import type { ReserveInput } from "./types.ts";

/** What became of a call: by this operation, by the expiry of its pool, or (a row) by an earlier one. */
export type Settled = "settled" | "expired" | SettledRow;

/** An open call. */
export interface PooledCall extends Ending {
  chargeNano: bigint | null;
  /** The operation that is settling it. */
  settling: Promise<Settled> | undefined;
  /** An operation failed, and may have settled it all the same. */
  uncertain: boolean;
}

/** A call that has just been reserved. */
export const openCall = (id: string, pool: Pool, heldNano: bigint): PooledCall => ({
  id,
  pool,
  heldNano,
  chargeNano: null,
  settling: undefined,
  uncertain: false,
});

export interface Pools {
  /** The pool that calls of this key join now. */
  join(input: ReserveInput): Pool;
  /** Lets no more calls into a pool. */
  retire(pool: Pool): void;
  /** Counts calls in and out; an empty pool that nobody is raising is over, and its row is gone. */
  count(pool: Pool, calls: number): void;
  /** Those with open calls. */
  live(): Iterable<Pool>;
}

const nameOf = (workspaceId: string, keyId: string, rotation: number | null): string =>
  `${workspaceId} ${keyId} ${rotation}`;

const newPool = (workspaceId: string, keyId: string, rotation: number | null): Pool => ({
  id: newId("pool"),
  workspaceId,
  keyId,
  rotation,
  written: false,
  calls: 0,
  raising: 0,
});

/** A process without pools. */
export function createPools(): Pools {
  const joinable = new Map<string, Pool>();
  const live = new Set<Pool>();
  function retire(pool: Pool): void {
    const name = nameOf(pool.workspaceId, pool.keyId, pool.rotation);
    if (joinable.get(name) === pool) joinable.delete(name);
  }
  function count(pool: Pool, calls: number): void {
    pool.calls += calls;
    if (pool.calls > 0) live.add(pool);
    else {
      live.delete(pool);
      if (pool.raising === 0) retire(pool);
    }
  }
  return {
    join({ workspaceId, keyId, keyRotation }) {
      const rotation = keyRotation ?? null;
      const name = nameOf(workspaceId, keyId, rotation);
      let pool = joinable.get(name);
      if (pool === undefined) {
        pool = newPool(workspaceId, keyId, rotation);
        joinable.set(name, pool);
      }
      return pool;
    },
    retire,
    count,
    live: () => live,
  };
}
