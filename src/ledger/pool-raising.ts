/** How batches of reservations raise pools. Design section 5; docs/ledger.md "Pooled holds". */
import type { Queryable } from "../storage/index.ts";
import { afterDuplicates, isShared, persist, reserveRetryMs } from "./persist.ts";
import {
  readRaised,
  type Pool,
  type Raise,
  type RaiseBatch,
  type Refused,
} from "./pool-statements.ts";
import { openCall, type PooledCall, type Pools } from "./pools.ts";
import type { ReserveInput } from "./types.ts";

/** A pool that is found expired is replaced; a second time in a row, the calls are decided one by one. */
const roundsMax = 2;

export interface RaisingParts {
  readonly database: Queryable;
  readonly pools: Pools;
  /** Where the calls go whose reservation was granted. */
  readonly calls: Map<string, PooledCall>;
  /** Sends a batch in its turn. */
  readonly send: (batch: RaiseBatch) => Promise<Refused>;
}

/** The reservations of a batch by pool. */
function groupByPool(items: readonly ReserveInput[], pools: Pools): Raise[] {
  const raises = new Map<Pool, Raise>();
  for (const [place, item] of items.entries()) {
    const pool = pools.join(item);
    let raise = raises.get(pool);
    if (raise === undefined) {
      raise = { pool, leaseMs: item.leaseMs, places: [], amountNano: 0n };
      raises.set(pool, raise);
    }
    raise.amountNano += item.amountNano;
    raise.places.push(place);
  }
  return [...raises.values()];
}

/** Sends what is not made yet of a batch of which an earlier sending may have come through, or may come through only now. */
async function sendAgain(parts: RaisingParts, batch: RaiseBatch): Promise<Refused> {
  const made = await readRaised(parts.database, batch);
  const raises = batch.raises.filter((raise) => !made.has(raise));
  if (raises.length === 0) return new Map();
  const refused = await parts.send({ ...batch, raises });
  if (refused.size === 0) return refused;
  const late = await readRaised(parts.database, { ...batch, raises: [...refused.keys()] });
  return new Map([...refused].filter(([raise]) => !late.has(raise)));
}

/** Raises pools by batches of reservations: true for each that is reserved, false for those to be decided one by one. */
export function createRaising(
  parts: RaisingParts,
): (items: readonly ReserveInput[]) => Promise<boolean[]> {
  const { pools, calls, send } = parts;
  let batches = 0;

  async function raise(batch: RaiseBatch): Promise<Refused> {
    for (const { pool } of batch.raises) pool.raising += 1;
    try {
      return await persist(reserveRetryMs, (attempt) =>
        afterDuplicates(attempt > 1, (again) => (again ? sendAgain(parts, batch) : send(batch))),
      );
    } catch (error) {
      // It may have been made all the same. Nobody joins such a pool: it ends with its calls, or with its lease.
      if (isShared(error)) for (const { pool } of batch.raises) pools.retire(pool);
      throw error;
    } finally {
      for (const { pool } of batch.raises) pool.raising -= 1;
    }
  }

  function grant(items: readonly ReserveInput[], { pool, places }: Raise): void {
    pool.written = true;
    pools.count(pool, places.length);
    for (const place of places) {
      const { id, amountNano: heldNano } = items[place]!;
      calls.set(id, openCall(id, pool, heldNano));
    }
  }

  return async (items) => {
    const reserved = items.map(() => false);
    let raises = groupByPool(items, pools);
    for (let round = 1; round <= roundsMax && raises.length > 0; round += 1) {
      let refused: Refused;
      try {
        refused = await raise({ number: (batches += 1), raises });
      } catch (error) {
        if (round === 1) throw error;
        break; // Others of the batch are reserved. These are told of the failure when they are decided one by one.
      }
      const lost: Raise[] = [];
      for (const one of raises) {
        const outcome = refused.get(one);
        if (outcome === undefined) {
          grant(items, one);
          for (const place of one.places) reserved[place] = true;
        } else if (outcome === "lost") {
          pools.retire(one.pool);
          lost.push({ ...one, pool: pools.join(items[one.places[0]!]!) });
        } else pools.count(one.pool, 0);
      }
      raises = lost;
    }
    return reserved;
  };
}
