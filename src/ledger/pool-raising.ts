/** How batches of reservations raise pools. Design section 5; docs/ledger.md "Pooled holds". */
import type { Clock } from "../base/clock.ts";
import type { Queryable } from "../storage/index.ts";
import { isShared, persist, reserveRetryMs } from "./persist.ts";
import { noSpares, spareAsk, type Spares } from "./pool-spare.ts";
import { readRaised, type Pool, type Raise, type RaiseBatch } from "./pool-statements.ts";
import { openCall, type PooledCall, type Pools } from "./pools.ts";
import type { ReserveInput } from "./types.ts";

/** A pool that is found expired is replaced; a second time in a row, the calls are decided one by one. */
const roundsMax = 2;

/** What became of a batch's raises; those that are not named were made. */
export interface Raised {
  readonly refused: ReadonlyMap<Raise, "unfit" | "lost">;
  /** Those whose spares were granted. */
  readonly spared: ReadonlySet<Raise>;
}

/** A wish for spares of a pool, for no call of its own. */
export interface SpareWish {
  readonly pool: Pool;
  readonly leaseMs: number;
}

const allMade: Raised = { refused: new Map(), spared: new Set() };

export interface RaisingParts {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly pools: Pools;
  /** Where the calls go whose reservation was granted. */
  readonly calls: Map<string, PooledCall>;
  readonly spares: Spares;
  /** Sends a batch in its turn. */
  readonly send: (batch: RaiseBatch) => Promise<Raised>;
}

/** The reservations of a batch by pool, and what spares they ask for. */
function groupByPool(items: readonly (ReserveInput | SpareWish)[], pools: Pools): Raise[] {
  const raises = new Map<Pool, Raise>();
  for (const [place, item] of items.entries()) {
    const pool = "pool" in item ? item.pool : pools.join(item);
    let raise = raises.get(pool);
    if (raise === undefined) {
      const amounts = { amountNano: 0n, largestNano: 0n, spare: noSpares };
      raise = { pool, leaseMs: item.leaseMs, places: [], ...amounts };
      raises.set(pool, raise);
    }
    if ("pool" in item) continue;
    raise.amountNano += item.amountNano;
    if (item.amountNano > raise.largestNano) raise.largestNano = item.amountNano;
    raise.places.push(place);
  }
  for (const raise of raises.values())
    if (pools.joinable(raise.pool)) raise.spare = spareAsk(raise);
  return [...raises.values()].filter(({ places, spare }) => places.length > 0 || spare.calls > 0);
}

/** Raises pools by batches of reservations: true for each that is reserved, false for those to be decided one by one. */
export function createRaising(
  parts: RaisingParts,
): (items: readonly (ReserveInput | SpareWish)[]) => Promise<boolean[]> {
  const { database, clock, pools, calls, spares, send } = parts;
  let batches = 0;

  async function raise(batch: RaiseBatch): Promise<Raised> {
    for (const { pool } of batch.raises) pool.raising += 1;
    try {
      return await persist(reserveRetryMs, async (attempt) => {
        if (attempt === 1) return send(batch);
        const made = await readRaised(database, batch);
        const raises = batch.raises.filter((one) => !made.has(one));
        const { refused, spared } =
          raises.length === 0 ? allMade : await send({ ...batch, raises });
        const sparedBefore = batch.raises.filter((one) => made.get(one) === true);
        return { refused, spared: new Set([...spared, ...sparedBefore]) };
      });
    } catch (error) {
      // It may have been made all the same. Nobody joins such a pool: it ends with its calls, or with its lease.
      if (isShared(error)) for (const { pool } of batch.raises) pools.retire(pool);
      throw error;
    } finally {
      for (const { pool } of batch.raises) pool.raising -= 1;
    }
  }

  function grant(
    items: readonly (ReserveInput | SpareWish)[],
    { pool, places, spare }: Raise,
    isSpared: boolean,
  ): void {
    pool.written = true;
    pools.count(pool, places.length);
    if (isSpared) spares.add(pool, spare);
    if (isSpared || places.length > 0) pool.checkedMs = clock.now();
    for (const place of places) {
      const { id, amountNano: heldNano } = items[place] as ReserveInput;
      calls.set(id, openCall(id, pool, heldNano));
    }
  }

  return async (items) => {
    const reserved = items.map(() => false);
    let raises = groupByPool(items, pools);
    for (let round = 1; round <= roundsMax && raises.length > 0; round += 1) {
      let raised: Raised;
      try {
        raised = await raise({ number: (batches += 1), raises });
      } catch (error) {
        if (round === 1) throw error;
        break; // Others of the batch are reserved. These are told of the failure when they are decided one by one.
      }
      const lost: Raise[] = [];
      for (const one of raises) {
        const outcome = raised.refused.get(one);
        if (outcome === undefined) {
          grant(items, one, raised.spared.has(one));
          for (const place of one.places) reserved[place] = true;
        } else if (outcome === "lost") {
          pools.retire(one.pool);
          const pool = pools.join(items[one.places[0]!] as ReserveInput);
          lost.push({ ...one, pool, spare: noSpares });
        } else {
          // A cap that was just set, a key that was just disabled: what is spare was granted before.
          one.pool.checkedMs = -Infinity;
          pools.count(one.pool, 0);
        }
      }
      raises = lost;
    }
    return reserved;
  };
}
