/** How pooled calls end: each with its own entry, once. Design section 5; docs/ledger.md "Pooled holds". */
import type { Clock } from "../base/clock.ts";
import type { Queryable } from "../storage/index.ts";
import { afterDuplicates, persist, settleRetryMs } from "./persist.ts";
import { expireCalls, readSettled, type Pool } from "./pool-statements.ts";
import type { PooledCall, Pools, Settled } from "./pools.ts";

export interface SettlingParts {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly pools: Pools;
  /** Where calls are taken from when they are over. */
  readonly calls: Map<string, PooledCall>;
  /** Settles calls in their turn; where it answers with pools that are gone, it has settled none. */
  readonly send: (endings: readonly PooledCall[]) => Promise<ReadonlySet<Pool>>;
}

/** Ends calls by batches, each as its `chargeNano` says. */
export function createSettling(
  parts: SettlingParts,
): (items: readonly PooledCall[]) => Promise<Settled[]> {
  const { database, clock, pools, calls, send } = parts;
  type Found = Map<PooledCall, Settled>;

  /** Notes which of them an operation without an answer has settled already. */
  async function findSettled(endings: readonly PooledCall[], found: Found): Promise<void> {
    for (const row of await readSettled(database, endings)) {
      found.set(endings[row.item - 1]!, row.entry_kind === "expire" ? "expired" : row);
    }
  }

  async function settleAll(endings: readonly PooledCall[], found: Found): Promise<void> {
    let left = endings;
    while (left.length > 0) {
      const gone = await send(left);
      if (gone.size === 0) return;
      for (const pool of gone) pools.retire(pool);
      const late = left.filter(({ pool }) => gone.has(pool));
      await expireCalls(database, late, clock.now());
      // A pool is gone too where a statement that had no answer has just settled its last call.
      await findSettled(late, found);
      left = left.filter((one) => !found.has(one));
    }
  }

  return async (items) => {
    const found: Found = new Map();
    const check = items.some(({ uncertain }) => uncertain);
    await persist(settleRetryMs, (attempt) =>
      afterDuplicates(check || attempt > 1, async (again) => {
        if (again) await findSettled(items, found);
        await settleAll(found.size === 0 ? items : items.filter((one) => !found.has(one)), found);
      }),
    );
    for (const { id, pool } of items) {
      calls.delete(id);
      pools.count(pool, -1);
    }
    return items.map((item) => found.get(item) ?? "settled");
  };
}
