/**
 * Reservations in advance: under load a turn raises a pool for calls that are about to come, so that they need not wait for
 * a turn of their own. docs/ledger.md "Pooled holds". A spare is an open call of its pool that is nobody's yet; it is held like any
 * other, was granted by the same checks a moment ago, and is given back when no call takes it.
 */
import type { Clock } from "../base/clock.ts";
import type { Queryable } from "../storage/index.ts";
import type { Ending, Pool, Raise } from "./pool-statements.ts";
import { persist, settleRetryMs } from "./persist.ts";
import type { Pools } from "./pools.ts";

/** How long the checks of a turn are good for. The key itself is checked for each call before it comes here. */
const freshMs = 50;
/** Calls that begin between two turns from which on spares are worth their place. */
const burstMin = 8;
const sparesMax = 250;

/** What a raise asks for beside its own calls. */
export interface SpareAsk {
  readonly calls: number;
  /** What each of them holds. */
  readonly eachNano: bigint;
}

export const noSpares: SpareAsk = { calls: 0, eachNano: 0n };

/** What to ask for with a raise of a pool: as many as began since the last one, and half as many again. */
export function spareAsk({ pool, places, largestNano }: Raise): SpareAsk {
  const begun = pool.begun + places.length;
  pool.begun = 0;
  const eachNano = places.length > 0 ? largestNano : pool.spareNano;
  const wanted = Math.min(Math.ceil(begun * 1.5), sparesMax) - pool.spares.length;
  if (begun < burstMin || wanted <= 0 || eachNano === 0n) return noSpares;
  pool.spareNano = eachNano;
  return { calls: wanted, eachNano };
}

/** How much longer the checks of the last raise are good; none where the clock was set back behind them. */
function freshForMs({ checkedMs }: Pool, nowMs: number): number {
  return nowMs < checkedMs ? 0 : Math.max(0, checkedMs + freshMs - nowMs);
}

/** What a spare of the pool holds, for a call that needs `amountNano`; undefined where there is none large and fresh enough. */
export function takeSpare(pool: Pool, amountNano: bigint, nowMs: number): bigint | undefined {
  const { spares } = pool;
  const last = spares.length - 1;
  if (last < 0 || spares[last]! < amountNano || freshForMs(pool, nowMs) === 0) return undefined;
  pool.begun += 1;
  return spares.pop();
}

/** Whether spares run low, so that a raise should bring more. */
export const runsLow = (pool: Pool): boolean => pool.spares.length < pool.begun;

/**
 * Takes up again what a turn without an answer would have given back, where one of its calls comes again: then it is known that
 * nothing of that turn was done. Where none comes again, all of it was.
 */
export function takeUp(pools: Pools, pool: Pool, endings: readonly Ending[]): void {
  const { doubtful } = pool;
  if (doubtful === undefined || !endings.includes(doubtful.ending!)) return;
  pool.doubtful = undefined;
  pool.spares.push(...doubtful.spares);
  pools.count(pool, doubtful.spares.length);
}

/**
 * Takes the spares that a turn gives back: all, where it ends every call that is open and begins none. So nothing is held any
 * more when the last of them is answered.
 */
export function givenBack(
  pool: Pool,
  endings: readonly unknown[],
  raise: Raise | undefined,
): bigint[] {
  const goesOn = raise !== undefined && raise.places.length > 0;
  if (goesOn || pool.calls - pool.spares.length > endings.length) return [];
  if (raise !== undefined) raise.spare = noSpares;
  return pool.spares.splice(0);
}

/** The spares of one process's pools. */
export interface Spares {
  /** Adds what a raise was granted. */
  add(pool: Pool, granted: SpareAsk): void;
  /** Gives back the spares of all pools. */
  giveBackAll(): Promise<void>;
}

/** Spares that go back to `database` when no call takes them while they are fresh. */
export function createSpares(database: Queryable, clock: Clock, pools: Pools): Spares {
  const watched = new Map<Pool, NodeJS.Timeout>();
  const underWay = new Set<Promise<void>>();
  let number = 0;

  async function giveBack(pool: Pool): Promise<void> {
    const spares = pool.spares.splice(0);
    if (spares.length === 0) return;
    const amountNano = spares.reduce((sum, each) => sum + each, 0n);
    // Without other calls its row is deleted: nobody may join it on the way.
    if (pool.calls === spares.length) pools.retire(pool);
    const params = [pool.workspaceId, pool.id, amountNano, spares.length, (number += 1)];
    const sql = "select ledger_give_back($1, $2, $3, $4, $5)";
    // What cannot be given back ends with the lease of its pool.
    await persist(settleRetryMs, () => database.query(sql, params)).catch(() => undefined);
    pools.count(pool, -spares.length);
  }

  function watch(pool: Pool, ms: number): void {
    watched.set(pool, setTimeout(check, Math.ceil(ms), pool));
  }

  function check(pool: Pool): void {
    watched.delete(pool);
    if (pool.spares.length === 0) return;
    const leftMs = freshForMs(pool, clock.now());
    if (leftMs > 0) watch(pool, leftMs);
    else giveBackNow(pool);
  }

  function giveBackNow(pool: Pool): void {
    const work = giveBack(pool);
    underWay.add(work);
    void work.finally(() => underWay.delete(work));
  }

  return {
    add(pool, { calls, eachNano }) {
      for (let count = 0; count < calls; count += 1) pool.spares.push(eachNano);
      pools.count(pool, calls);
      if (!watched.has(pool)) watch(pool, freshMs);
    },
    async giveBackAll() {
      const waiting = [...watched];
      watched.clear();
      for (const [, timer] of waiting) clearTimeout(timer);
      for (const [pool] of waiting) giveBackNow(pool);
      await Promise.all(underWay);
    },
  };
}
