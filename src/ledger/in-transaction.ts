/**
 * The ledger inside a transaction of its caller, for what must be decided together with other rows: a task and its hold,
 * a task's end and its charge. Design sections 5 and 6; decisions.md "queue limits".
 * The account of the workspace stays locked until that transaction ends, so it should be short.
 */
import { GatewayError } from "../base/errors.ts";
import { formatUsd } from "../base/money.ts";
import type { Queryable } from "../storage/index.ts";
import {
  checkAmount,
  postBatch,
  reserveBatch,
  reserveQueuedBatch,
  voidBatch,
  type QueuedResult,
  type QueueLimits,
} from "./statements.ts";
import { entryId, readBalance } from "./read.ts";
import type {
  CreditInput,
  CreditResult,
  Entry,
  HoldName,
  PostInput,
  PostResult,
  ReserveInput,
  VoidResult,
} from "./types.ts";

/**
 * Reserves within `tx`. With `queue`, open holds of images and tasks are counted too, exactly, whatever runs at once; a
 * full queue is told only of calls that nothing else refuses, and leaves nothing held.
 * Of the ledger's operations in one transaction it must be the first, and all must be of one workspace: others lock in that order.
 */
export async function reserveIn(
  tx: Queryable,
  input: ReserveInput,
  nowMs: number,
  queue?: QueueLimits,
): Promise<QueuedResult> {
  if (queue !== undefined) return (await reserveAllIn(tx, [input], nowMs, queue))[0]!;
  checkAmount(input.amountNano);
  const [result] = await reserveBatch(tx, [input], nowMs);
  return result!;
}

/**
 * Reserves calls of any workspaces that count in the queue, each as {@link reserveIn} does; one result each. It must be the only
 * operation of the ledger in its transaction, until whose end no other such call is decided anywhere.
 */
export async function reserveAllIn(
  tx: Queryable,
  inputs: readonly ReserveInput[],
  nowMs: number,
  queue: QueueLimits,
): Promise<QueuedResult[]> {
  for (const { amountNano } of inputs) checkAmount(amountNano);
  return reserveQueuedBatch(tx, inputs, nowMs, queue);
}

/** Charges a hold that {@link reserveIn} (or any other reservation with a hold of its own) took, within `tx`. */
export async function postIn(tx: Queryable, input: PostInput, nowMs: number): Promise<PostResult> {
  checkAmount(input.amountNano);
  const [result] = await postBatch(tx, [input], nowMs);
  return result!;
}

/** Releases such a hold within `tx`. */
export async function voidIn(tx: Queryable, input: HoldName, nowMs: number): Promise<VoidResult> {
  const [result] = await voidBatch(tx, [input], nowMs);
  return result!;
}

/** Charges, within `tx`, what a hold had reserved that was expired while its work still ran; `unknown_hold` where it was not. */
export async function chargeExpiredIn(
  tx: Queryable,
  input: PostInput,
  nowMs: number,
): Promise<PostResult> {
  checkAmount(input.amountNano);
  const [row] = await tx.query<{ amount_nano: bigint }>(
    "select * from ledger_charge_expired($1, $2, $3, $4)",
    [input.id, input.workspaceId, input.amountNano, new Date(nowMs).toISOString()],
  );
  return row === undefined
    ? { outcome: "unknown_hold", chargedNano: 0n }
    : { outcome: "posted", chargedNano: row.amount_nano };
}

interface CreditRow {
  readonly is_new: boolean;
  readonly entry: bigint;
  readonly kind: Entry["kind"];
  readonly amount_nano: bigint;
  readonly balance_after_nano: bigint;
  readonly created_at: Date;
}

/** Adds credit, or takes it back, within `tx`; once per reference. @throws GatewayError not_found, conflict */
export async function creditIn(
  tx: Queryable,
  input: CreditInput,
  nowMs: number,
): Promise<CreditResult> {
  checkAmount(input.amountNano < 0n ? -input.amountNano : input.amountNano);
  const [row] = await tx.query<CreditRow>("select * from ledger_credit($1, $2, $3, $4, $5)", [
    input.workspaceId,
    input.amountNano,
    input.reference,
    input.note ?? null,
    new Date(nowMs).toISOString(),
  ]);
  if (row === undefined) throw await whyNotCredited(tx, input);
  if (row.kind !== "credit")
    throw new GatewayError("conflict", "The reference belongs to another ledger entry.");
  return {
    outcome: row.is_new ? "credited" : "already_credited",
    entryId: entryId(row.entry),
    amountNano: row.amount_nano,
    balanceAfterNano: row.balance_after_nano,
    createdAt: row.created_at,
  };
}

async function whyNotCredited(tx: Queryable, input: CreditInput): Promise<GatewayError> {
  const balance = await readBalance(tx, input.workspaceId);
  if (balance === undefined)
    return new GatewayError("not_found", `No such workspace: ${input.workspaceId}.`);
  const [asked, credits] = [formatUsd(-input.amountNano), formatUsd(balance.creditsNano)];
  return new GatewayError(
    "conflict",
    `$${asked} cannot be taken back: the workspace was credited $${credits} in all.`,
  );
}
