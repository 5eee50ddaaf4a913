/** The statements of pooled holds; they live in storage/migrations/0017_ledger_without_spares.sql. docs/ledger.md. */
import type { Queryable } from "../storage/index.ts";
import { numbers, texts } from "./arrays.ts";
import { onOnePool, takeOnePoolTurn } from "./pool-turn.ts";
import type { Turn } from "./turns.ts";

/** What the calls of one process that run on one key have reserved together: one row of `ledger_holds`. */
export interface Pool {
  readonly id: string;
  readonly workspaceId: string;
  readonly keyId: string;
  readonly rotation: number | null;
  /** Whether its row has been written. */
  written: boolean;
  /** Open calls that this process knows of. The row may count others, of a batch whose answer never came. */
  calls: number;
  /** Batches under way that raise it. */
  raising: number;
}

/** The reservations of a batch on one pool. */
export interface Raise {
  readonly pool: Pool;
  readonly leaseMs: number;
  amountNano: bigint;
  /** Where its calls stand in the batch. */
  readonly places: number[];
}

/** A batch of reservations. Its number is its own within the process, and stays when it is sent again. */
export interface RaiseBatch {
  readonly number: number;
  readonly raises: readonly Raise[];
}

/** A pooled call that is over. */
export interface Ending {
  readonly id: string;
  readonly pool: Pool;
  readonly heldNano: bigint;
  /** Null for a void. */
  readonly chargeNano: bigint | null;
}

/** Ids that need no escaping in an array's text; others are not pooled. */
export const isPlainId = (id: string): boolean => /^[\w.:-]+$/.test(id);

interface EndingSums {
  readonly place: number;
  charge: bigint | null;
  held: bigint;
  calls: number;
}

/** The calls that are over, and their sums by pool: parameters 2 to 11. */
function endingParams(endings: readonly Ending[]): { params: string[]; pools: Pool[] } {
  const sums = new Map<Pool, EndingSums>();
  const chargedBy = new Map<string, bigint>();
  const charged: bigint[] = [];
  const places: number[] = [];
  for (const { pool, heldNano, chargeNano } of endings) {
    let sum = sums.get(pool);
    if (sum === undefined) {
      sum = { place: sums.size + 1, charge: null, held: 0n, calls: 0 };
      sums.set(pool, sum);
    }
    sum.held += heldNano;
    sum.calls += 1;
    if (chargeNano !== null) sum.charge = (sum.charge ?? 0n) + chargeNano;
    const upTo = (chargedBy.get(pool.workspaceId) ?? 0n) + (chargeNano ?? 0n);
    chargedBy.set(pool.workspaceId, upTo);
    charged.push(upTo);
    places.push(sum.place);
  }
  const pools = [...sums.keys()];
  const all = [...sums.values()];
  const params = [
    texts(pools.map((pool) => pool.workspaceId)),
    texts(pools.map((pool) => pool.id)),
    numbers(all.map((sum) => sum.charge)),
    numbers(all.map((sum) => sum.held)),
    numbers(all.map((sum) => sum.calls)),
    texts(endings.map((ending) => ending.id)),
    numbers(places),
    numbers(endings.map((ending) => ending.chargeNano)),
    numbers(endings.map((ending) => ending.heldNano)),
    numbers(charged),
  ];
  return { params, pools };
}

/** The pools that are raised: parameters 12 to 20. */
function raiseParams(raises: readonly Raise[]): string[] {
  const totals = new Map<string, bigint>();
  for (const { pool, amountNano } of raises)
    totals.set(pool.workspaceId, (totals.get(pool.workspaceId) ?? 0n) + amountNano);
  return [
    texts(raises.map(({ pool }) => pool.workspaceId)),
    texts(raises.map(({ pool }) => pool.keyId)),
    numbers(raises.map(({ pool }) => pool.rotation)),
    texts(raises.map(({ pool }) => pool.id)),
    numbers(raises.map(({ pool }) => !pool.written)),
    numbers(raises.map((raise) => raise.amountNano)),
    numbers(raises.map(({ pool }) => totals.get(pool.workspaceId)!)),
    numbers(raises.map((raise) => raise.places.length)),
    numbers(raises.map((raise) => raise.leaseMs)),
  ];
}

export interface TurnRow {
  /** Where its pool stands among those that end calls (`gone`) or are raised, from 1. */
  readonly place: number;
  readonly outcome: "gone" | "unfit" | "lost";
}

/** The raises that were not made: `unfit` ones are for the per-call statement, `lost` ones name a pool that was expired. */
export type Refused = ReadonlyMap<Raise, "unfit" | "lost">;

/** What a turn tells of its two halves. */
export interface PooledTurn {
  readonly refused: Refused;
  /** Pools that were expired; where there are any, no call was settled. */
  readonly gone: ReadonlySet<Pool>;
}

const none: readonly never[] = [];
const pooledSql = `select place, outcome from ledger_pooled(${Array.from({ length: 21 }, (_, index) => `$${index + 1}`).join(",")})`;

/** Settles calls that are over and raises pools for calls that begin, in one statement and one transaction. */
export async function pooledTurn(
  database: Queryable,
  turn: Turn<RaiseBatch, readonly Ending[]>,
  nowMs: number,
): Promise<PooledTurn> {
  const endings = turn.posts ?? none;
  const raises = turn.reserves?.raises ?? none;
  const batch = turn.reserves?.number ?? 0;
  const one = onOnePool(endings, raises);
  if (one !== undefined) {
    const rows = await takeOnePoolTurn(database, one, nowMs, batch);
    return readTurn(rows, [one.pool], raises);
  }
  const { params, pools: ended } = endingParams(endings);
  const rows = await database.query<TurnRow>(
    pooledSql,
    [new Date(nowMs).toISOString(), ...params, ...raiseParams(raises), batch],
    { name: "ledger_pooled" },
  );
  return readTurn(rows, ended, raises);
}

function readTurn(
  rows: readonly TurnRow[],
  pools: readonly Pool[],
  raises: readonly Raise[],
): PooledTurn {
  const refused = new Map<Raise, "unfit" | "lost">();
  const gone = new Set<Pool>();
  for (const { place, outcome } of rows) {
    if (outcome === "gone") gone.add(pools[place - 1]!);
    else refused.set(raises[place - 1]!, outcome);
  }
  return { refused, gone };
}

export interface SettledRow {
  readonly item: number;
  readonly entry_kind: "charge" | "void" | "expire" | "credit";
  readonly amount_nano: bigint;
}

/** The entries of calls whose settling got no answer; `item` counts from 1. */
export function readSettled(
  database: Queryable,
  endings: readonly Ending[],
): Promise<SettledRow[]> {
  return database.query<SettledRow>("select * from ledger_settled($1, $2)", [
    texts(endings.map(({ pool }) => pool.workspaceId)),
    texts(endings.map(({ id }) => id)),
  ]);
}

/** The raises of a batch without an answer that were made all the same. */
export async function readRaised(
  database: Queryable,
  { number, raises }: RaiseBatch,
): Promise<Set<Raise>> {
  const rows = await database.query<{ place: number }>("select * from ledger_raised($1, $2, $3)", [
    texts(raises.map(({ pool }) => pool.workspaceId)),
    texts(raises.map(({ pool }) => pool.id)),
    number,
  ]);
  return new Set(rows.map(({ place }) => raises[place - 1]!));
}

/** Writes the expire entries of calls whose pools were expired; again is the same as once. */
export async function expireCalls(
  database: Queryable,
  endings: readonly Ending[],
  nowMs: number,
): Promise<void> {
  await database.query("select ledger_expire_calls($1, $2, $3, $4)", [
    texts(endings.map(({ id }) => id)),
    texts(endings.map(({ pool }) => pool.workspaceId)),
    texts(endings.map(({ pool }) => pool.keyId)),
    new Date(nowMs).toISOString(),
  ]);
}
