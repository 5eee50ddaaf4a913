/**
 * Holds of image calls and tasks, in the caller's transaction: a task commits with its hold, and its end with its charge.
 * The account of the workspace stays locked until that transaction ends: do little after these calls.
 */
import { camelCased, type SnakeCased } from "../base/casing.ts";
import type { GatewayError } from "../base/errors.ts";
import { assertAmount } from "../base/money.ts";
import type { Queryable } from "../storage/index.ts";
import { mayFitSoon, refusalOf, type Answer } from "./refusal.ts";
import type { CallName, ReserveInput } from "./types.ts";

/** An image call or a task that asks for a hold, which is a row of its own. */
export interface HoldInput extends ReserveInput {
  readonly kind: "image" | "task";
  /** Milliseconds until the sweeper releases the hold, unless it is extended. */
  readonly leaseMs: number;
}

/** The most open holds of images and tasks, this one included: of all workspaces, and of one workspace. */
export interface QueueLimits {
  readonly global: number;
  readonly perWorkspace: number;
}

export interface HoldRefusal {
  readonly error: GatewayError;
  /** True if the call would fit once others return their unused reservations, which takes them a moment at most. */
  readonly mayFitSoon: boolean;
}

/**
 * Sets the bounds of calls aside one by one, in the given order within a workspace. Returns for each its refusal, or undefined. It must be
 * the only ledger operation in its transaction. Until that ends, no other image call or task can take a hold, in any gateway.
 */
export async function reserveIn(
  tx: Queryable,
  inputs: readonly HoldInput[],
  queue: QueueLimits,
): Promise<(HoldRefusal | undefined)[]> {
  for (const { amountNano } of inputs) assertAmount(amountNano);
  // Every operation locks accounts in the order of their workspace ids.
  const rows = await tx.query<Answer & { readonly place: number }>(
    `select i.place::integer as place, r.*
     from (
       select * from unnest($1::text[], $2::text[], $3::text[], $4::integer[], $5::text[], $6::bigint[], $7::bigint[]) with ordinality
         as x (workspace_id, id, key_id, rotation, kind, amount, lease_ms, place) order by x.workspace_id, x.place offset 0
     ) i,
     lateral ledger_hold(i.workspace_id, i.id, i.key_id, i.rotation, i.kind, i.amount, i.lease_ms, $8, $9) r`,
    [
      inputs.map(({ workspaceId }) => workspaceId),
      inputs.map(({ id }) => id),
      inputs.map(({ keyId }) => keyId),
      inputs.map(({ keyRotation }) => keyRotation),
      inputs.map(({ kind }) => kind),
      inputs.map(({ amountNano }) => amountNano),
      inputs.map(({ leaseMs }) => leaseMs),
      queue.global,
      queue.perWorkspace,
    ],
    { name: "ledger_hold" },
  );
  return inputs.map(({ amountNano: bound }, index) => {
    const row = rows.find(({ place }) => place === index + 1);
    return row && { error: refusalOf(row, bound)!, mayFitSoon: mayFitSoon(row, bound) };
  });
}

/** The entry that ended a hold. */
export interface Settled {
  /** True if this call wrote it; false if the hold had ended before. */
  readonly isNew: boolean;
  readonly kind: "charge" | "void" | "expire";
  /** The amount charged in all. */
  readonly amountNano: bigint;
  /** True if the hold had expired while its work ran: a separate entry charged it. */
  readonly isLate: boolean;
}

/**
 * Ends a hold in the transaction `tx`: charges it, or voids it if `chargeNano` is null. A repeated call returns the first entry. Undefined
 * if there is no such hold. If the hold expired while its work ran, a separate entry charges it all the same.
 */
export async function settleIn(
  tx: Queryable,
  { id, workspaceId }: CallName,
  chargeNano: bigint | null,
): Promise<Settled | undefined> {
  if (chargeNano !== null) assertAmount(chargeNano);
  const [row] = await tx.query<SnakeCased<Settled>>(
    "select * from ledger_settle($1, $2, $3)",
    [workspaceId, id, chargeNano],
    { name: "ledger_settle" },
  );
  return row && camelCased(row);
}

/** Extends the leases of open holds to at least `leaseMs` from now. */
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
