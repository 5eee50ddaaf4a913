/**
 * Holds of images and tasks, in a transaction of their caller: a task and its hold, a task's end and its charge are decided together.
 * The account of the workspace stays locked until that transaction ends: little should come after it.
 */
import type { Queryable } from "../storage/index.ts";
import { checkAmount } from "./amounts.ts";
import { fitsButForIdle, refusalOf, type Answer } from "./decide.ts";
import {
  anyRotation,
  type CallName,
  type HoldInput,
  type HoldResult,
  type QueueLimits,
  type SettleResult,
} from "./types.ts";

type HoldRow = Answer & { readonly item: number };

/**
 * Holds the bounds of calls, each decided in its turn, those of one workspace in their order; one result each. It must be the
 * only operation of the ledger in its transaction, until whose end no other such call is decided anywhere.
 */
export async function reserveAllIn(
  tx: Queryable,
  inputs: readonly HoldInput[],
  queue: QueueLimits,
): Promise<HoldResult[]> {
  for (const { amountNano } of inputs) checkAmount(amountNano);
  // Accounts are locked in the order of their workspaces, everywhere.
  const inOrder = inputs.toSorted((one, other) =>
    one.workspaceId === other.workspaceId ? 0 : one.workspaceId < other.workspaceId ? -1 : 1,
  );
  const rows = await tx.query<HoldRow>(
    `select i.place::integer as item, r.*
     from unnest($1::text[], $2::text[], $3::text[], $4::integer[], $5::text[], $6::bigint[], $7::bigint[]) with ordinality
       as i (workspace_id, id, key_id, rotation, kind, amount, lease_ms, place),
     lateral ledger_hold(i.workspace_id, i.id, i.key_id, i.rotation, i.kind, i.amount, i.lease_ms, $8, $9) r`,
    [
      inOrder.map((input) => input.workspaceId),
      inOrder.map((input) => input.id),
      inOrder.map((input) => input.keyId),
      inOrder.map((input) => input.keyRotation ?? anyRotation),
      inOrder.map((input) => input.kind),
      inOrder.map((input) => input.amountNano),
      inOrder.map((input) => input.leaseMs),
      queue.global,
      queue.perWorkspace,
    ],
    { name: "ledger_hold" },
  );
  const results = new Map<HoldInput, HoldResult>();
  for (const row of rows)
    results.set(inOrder[row.item - 1]!, resultOf(row, inOrder[row.item - 1]!));
  return inputs.map((input) => results.get(input) ?? { outcome: "reserved" });
}

function resultOf(row: HoldRow, { amountNano }: HoldInput): HoldResult {
  if (row.refusal === "queue_full") return { outcome: "queue_full" };
  const refusal = refusalOf(row, amountNano) ?? {
    outcome: "insufficient_balance" as const,
    availableNano: row.available ?? 0n,
  };
  return { ...refusal, mayFitSoon: fitsButForIdle(row, amountNano) };
}

/** As {@link reserveAllIn}, one call. */
export async function reserveIn(
  tx: Queryable,
  input: HoldInput,
  queue: QueueLimits,
): Promise<HoldResult> {
  return (await reserveAllIn(tx, [input], queue))[0]!;
}

interface SettledRow {
  readonly is_new: boolean;
  readonly kind: string;
  readonly amount_nano: bigint;
  readonly is_late: boolean;
}

/**
 * Ends a hold within `tx`: charges it, or (null) voids it. A second time it is answered with what happened the first time. One that had
 * expired while its work went on is charged all the same, by an entry of its own.
 */
export async function settleIn(
  tx: Queryable,
  { id, workspaceId }: CallName,
  chargeNano: bigint | null,
): Promise<SettleResult> {
  if (chargeNano !== null) checkAmount(chargeNano);
  const [row] = await tx.query<SettledRow>(
    "select * from ledger_settle($1, $2, $3)",
    [workspaceId, id, chargeNano],
    { name: "ledger_settle" },
  );
  if (row === undefined) return { outcome: "unknown", chargedNano: 0n, isLate: false };
  const charged = row.kind === "charge";
  const outcome = row.is_new
    ? charged
      ? "posted"
      : "voided"
    : charged
      ? "already_posted"
      : "already_voided";
  return { outcome, chargedNano: row.amount_nano, isLate: row.is_late };
}

/** Keeps open holds for another `leaseMs` from now. */
export async function extendHolds(
  database: Queryable,
  holds: readonly CallName[],
  leaseMs: number,
): Promise<void> {
  if (holds.length === 0) return;
  await database.query("select ledger_extend($1, $2, $3)", [
    holds.map(({ workspaceId }) => workspaceId),
    holds.map(({ id }) => id),
    leaseMs,
  ]);
}
