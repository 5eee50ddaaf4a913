/** The statement for a turn on one pool, which is what most turns are; it lives in storage/migrations/0017_ledger_without_spares.sql. */
import type { Queryable } from "../storage/index.ts";
import { numbers, texts } from "./arrays.ts";
import type { Ending, Pool, Raise, TurnRow } from "./pool-statements.ts";

/** A turn on one pool: calls of it that are over, and its raise. At least one is there. */
export interface OnePoolTurn {
  readonly pool: Pool;
  readonly endings: readonly Ending[];
  readonly raise: Raise | undefined;
}

/** A turn as one on one pool; undefined where it is on several. */
export function onOnePool(
  endings: readonly Ending[],
  raises: readonly Raise[],
): OnePoolTurn | undefined {
  if (raises.length > 1) return undefined;
  const [raise] = raises;
  const pool = raise?.pool ?? endings[0]?.pool;
  if (pool === undefined || endings.some((ending) => ending.pool !== pool)) return undefined;
  return { pool, endings, raise };
}

const sql = `select place, outcome from ledger_pool_turn(${Array.from({ length: 16 }, (_, index) => `$${index + 1}`).join(",")})`;

/** Settles calls of one pool and raises it, in one statement. */
export function takeOnePoolTurn(
  database: Queryable,
  turn: OnePoolTurn,
  nowMs: number,
  batch: number,
): Promise<TurnRow[]> {
  return database.query<TurnRow>(sql, paramsOf(turn, nowMs, batch), {
    name: "ledger_pool_turn",
  });
}

function paramsOf({ pool, endings, raise }: OnePoolTurn, nowMs: number, batch: number): unknown[] {
  let charge: bigint | null = null;
  let charged = 0n;
  let held = 0n;
  const upTo: bigint[] = [];
  for (const { heldNano, chargeNano } of endings) {
    held += heldNano;
    if (chargeNano !== null) charge = charged += chargeNano;
    upTo.push(charged);
  }
  return [
    new Date(nowMs).toISOString(),
    pool.workspaceId,
    pool.keyId,
    pool.rotation,
    pool.id,
    texts(endings.map(({ id }) => id)),
    numbers(endings.map(({ chargeNano }) => chargeNano)),
    numbers(endings.map(({ heldNano }) => heldNano)),
    numbers(upTo),
    charge,
    held,
    raise !== undefined && !pool.written,
    raise?.amountNano ?? 0n,
    raise?.places.length ?? 0,
    raise?.leaseMs ?? 0,
    batch,
  ];
}
