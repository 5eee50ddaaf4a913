/** The ledger's batched statements: one function call each, arrays in, exceptions out. They live in storage/migrations. */
import { assert } from "../base/assert.ts";
import type { Queryable } from "../storage/index.ts";
import { layers, resetsAt, windows } from "./periods.ts";
import type { Turn } from "./turns.ts";
import type {
  ExtendInput,
  HoldName,
  KeyRefusal,
  PostInput,
  PostResult,
  ReserveInput,
  ReserveResult,
  VoidResult,
} from "./types.ts";

/** Ten million dollars: no sum over a batch can leave the range of a bigint column. */
export const amountNanoMax = 10_000_000n * 1_000_000_000n;

/** Every amount passes here before it goes out. */
export function checkAmount(amountNano: bigint): void {
  assert(amountNano >= 0n && amountNano <= amountNanoMax, `amount out of range: ${amountNano}`);
}

interface ReserveRow {
  readonly item: number;
  readonly outcome: "already_reserved" | KeyRefusal | "cap_reached" | "insufficient_balance";
  readonly cap: number;
  readonly limit_nano: bigint | null;
  readonly available_nano: bigint | null;
}

function toReserveResult(row: ReserveRow, nowMs: number): ReserveResult {
  const { outcome } = row;
  if (outcome === "insufficient_balance")
    return { outcome, availableNano: row.available_nano ?? 0n };
  if (outcome !== "cap_reached") return { outcome };
  // 1 to 12: four windows for each of the three layers.
  const layer = layers[Math.floor((row.cap - 1) / windows.length)]!;
  const window = windows[(row.cap - 1) % windows.length]!;
  return {
    outcome,
    layer,
    window,
    limitNano: row.limit_nano ?? 0n,
    resetsAt: resetsAt(window, nowMs),
  };
}

const reserveCall = "ledger_reserve($1, $2, ledger_keys_in_force($2, $3, $8, $7), $4, $5, $6, $7)";

const reserveParams = (items: readonly ReserveInput[], nowMs: number): unknown[] => [
  items.map((item) => item.id),
  items.map((item) => item.workspaceId),
  items.map((item) => item.keyId),
  items.map((item) => item.amountNano),
  items.map((item) => item.leaseMs),
  items.map((item) => item.kind),
  new Date(nowMs).toISOString(),
  items.map((item) => item.keyRotation ?? null),
];

/** One result per item: the rows tell only of those that were not reserved. */
function reserveResults(
  items: readonly ReserveInput[],
  rows: readonly ReserveRow[],
  nowMs: number,
): ReserveResult[] {
  const results = items.map((): ReserveResult => ({ outcome: "reserved" }));
  for (const row of rows) results[row.item - 1] = toReserveResult(row, nowMs);
  return results;
}

/** Reserves a batch; one result per item, as if they had come one after another. */
export async function reserveBatch(
  database: Queryable,
  items: readonly ReserveInput[],
  nowMs: number,
): Promise<ReserveResult[]> {
  const rows = await database.query<ReserveRow>(
    `select * from ${reserveCall}`,
    reserveParams(items, nowMs),
    { name: "ledger_reserve" },
  );
  return reserveResults(items, rows, nowMs);
}

/** How many open holds of images and tasks there may be, this one included: of all workspaces, and of one. */
export interface QueueLimits {
  readonly global: number;
  readonly perWorkspace: number;
}

export type QueuedResult = ReserveResult | { readonly outcome: "queue_full" };

type QueuedRow = Omit<ReserveRow, "outcome"> & { outcome: ReserveRow["outcome"] | "queue_full" };

/**
 * Reserves calls that count against the queue limits; one result per item, as if they had come one after another, those of one
 * workspace in their order. Accounts are locked by workspace, in the order in which all batches lock them.
 */
export async function reserveQueuedBatch(
  tx: Queryable,
  items: readonly ReserveInput[],
  nowMs: number,
  queue: QueueLimits,
): Promise<QueuedResult[]> {
  const inOrder = items.toSorted((one, other) =>
    one.workspaceId === other.workspaceId ? 0 : one.workspaceId < other.workspaceId ? -1 : 1,
  );
  const rows = await tx.query<QueuedRow>(
    `select i.place::integer as item, r.outcome, r.cap, r.limit_nano, r.available_nano
     from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $8::integer[]) with ordinality
       as i (id, workspace_id, key_id, amount, lease_ms, kind, rotation, place),
     lateral ledger_reserve_queued(i.id, i.workspace_id, i.key_id, i.amount, i.lease_ms, i.kind, $7, i.rotation, $9, $10) r`,
    [...reserveParams(inOrder, nowMs), queue.global, queue.perWorkspace],
    { name: "ledger_reserve_queued" },
  );
  const results = new Map(inOrder.map((item): [ReserveInput, QueuedResult] => [item, reserved]));
  for (const { outcome, ...row } of rows) {
    const result =
      outcome === "queue_full" ? { outcome } : toReserveResult({ ...row, outcome }, nowMs);
    results.set(inOrder[row.item - 1]!, result);
  }
  return items.map((item) => results.get(item)!);
}

const reserved: ReserveResult = { outcome: "reserved" };

interface ResolveRow {
  readonly item: number;
  readonly entry_kind: "charge" | "void" | "expire" | "credit" | null;
  readonly amount_nano: bigint | null;
}

function resolve(
  database: Queryable,
  items: readonly PostInput[],
  kind: "charge" | "void",
  nowMs: number,
): Promise<ResolveRow[]> {
  return database.query<ResolveRow>(
    "select * from ledger_resolve($1, $2, $3, $4, $5)",
    [
      items.map((item) => item.id),
      items.map((item) => item.workspaceId),
      items.map((item) => item.amountNano),
      kind,
      new Date(nowMs).toISOString(),
    ],
    { name: "ledger_resolve" },
  );
}

type EntryKind = ResolveRow["entry_kind"];

/** The result of a post whose hold was not open, by the entry that ended it. */
export function postResult(kind: EntryKind, chargedNano: bigint | null): PostResult {
  if (kind === "charge") return { outcome: "already_posted", chargedNano: chargedNano ?? 0n };
  const outcome = kind === "void" || kind === "expire" ? "already_voided" : "unknown_hold";
  return { outcome, chargedNano: 0n };
}

/** The same for a void. */
export function voidResult(kind: EntryKind): VoidResult {
  if (kind === "charge") return { outcome: "already_posted" };
  return { outcome: kind === "void" || kind === "expire" ? "already_voided" : "unknown_hold" };
}

/** One result per item: the rows tell only of those whose hold was not open. */
function postResults(items: readonly PostInput[], rows: readonly ResolveRow[]): PostResult[] {
  const results = items.map((item): PostResult => ({
    outcome: "posted",
    chargedNano: item.amountNano,
  }));
  for (const { item, entry_kind, amount_nano } of rows)
    results[item - 1] = postResult(entry_kind, amount_nano);
  return results;
}

/** Posts a batch. */
export async function postBatch(
  database: Queryable,
  items: readonly PostInput[],
  nowMs: number,
): Promise<PostResult[]> {
  return postResults(items, await resolve(database, items, "charge", nowMs));
}

type TurnRow = { readonly part: "reserve" | "post" } & ReserveRow & ResolveRow;

const turnSql = `
  select 'post' as part, item, entry_kind, amount_nano,
    null::text as outcome, null::integer as cap, null::bigint as limit_nano, null::bigint as available_nano
  from ledger_resolve($9, $10, $11, 'charge', $7)
  union all
  select 'reserve', item, null, null, outcome, cap, limit_nano, available_nano from ${reserveCall}`;

/** A batch of posts and then a batch of reservations, in one statement and one transaction; either may be absent. */
export async function turnBatch(
  database: Queryable,
  turn: Turn<readonly ReserveInput[], readonly PostInput[]>,
  nowMs: number,
): Promise<{ reserved: ReserveResult[]; posted: PostResult[] }> {
  const { reserves = [], posts = [] } = turn;
  if (posts.length === 0)
    return { reserved: await reserveBatch(database, reserves, nowMs), posted: [] };
  if (reserves.length === 0)
    return { reserved: [], posted: await postBatch(database, posts, nowMs) };
  const rows = await database.query<TurnRow>(
    turnSql,
    [
      ...reserveParams(reserves, nowMs),
      posts.map((item) => item.id),
      posts.map((item) => item.workspaceId),
      posts.map((item) => item.amountNano),
    ],
    { name: "ledger_turn" },
  );
  return {
    reserved: reserveResults(
      reserves,
      rows.filter((row) => row.part === "reserve"),
      nowMs,
    ),
    posted: postResults(
      posts,
      rows.filter((row) => row.part === "post"),
    ),
  };
}

/** Voids a batch. */
export async function voidBatch(
  database: Queryable,
  items: readonly HoldName[],
  nowMs: number,
): Promise<VoidResult[]> {
  const named = items.map((item) => ({ ...item, amountNano: 0n }));
  const rows = await resolve(database, named, "void", nowMs);
  const results = items.map((): VoidResult => ({ outcome: "voided" }));
  for (const { item, entry_kind } of rows) results[item - 1] = voidResult(entry_kind);
  return results;
}

/** Extends the leases of a batch; true for each hold that is still open. */
export async function extendBatch(
  database: Queryable,
  items: readonly ExtendInput[],
  nowMs: number,
): Promise<boolean[]> {
  const rows = await database.query<{ item: number }>(
    "select * from ledger_extend($1, $2, $3, $4)",
    [
      items.map((item) => item.id),
      items.map((item) => item.workspaceId),
      items.map((item) => item.leaseMs),
      new Date(nowMs).toISOString(),
    ],
    { name: "ledger_extend" },
  );
  const results = items.map(() => false);
  for (const { item } of rows) results[item - 1] = true;
  return results;
}
