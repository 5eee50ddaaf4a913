/**
 * Holds of images and tasks, in a transaction of their caller: a task and its hold, a task's end and its charge are decided together.
 * The account of the workspace stays locked until that transaction ends: little should come after it.
 */
import { camelCased, type SnakeCased } from "../base/casing.ts";
import type { GatewayError } from "../base/errors.ts";
import type { Queryable } from "../storage/index.ts";
import { fitsButForIdle, refusalOf, type Answer } from "./refusal.ts";
import { checkAmount, type CallName, type ReserveInput } from "./types.ts";

/** An image call or a task, which holds its bound by a row of its own. */
export interface HoldInput extends ReserveInput {
  readonly kind: "image" | "task";
  /** How long the hold may go unattended before the sweeper releases it. */
  readonly leaseMs: number;
}

/** How many open holds of images and tasks there may be, this one included: of all workspaces, and of one. */
export interface QueueLimits {
  readonly global: number;
  readonly perWorkspace: number;
}

export interface HoldRefusal {
  readonly error: GatewayError;
  /** It would fit, if others returned what they have set aside and do not use, which takes them a moment at most. */
  readonly mayFitSoon: boolean;
}

/**
 * Holds the bounds of calls, each decided in its turn, those of one workspace in their order; what refuses it, or undefined, for each. It
 * must be the only operation of the ledger in its transaction, until whose end no other such call is decided anywhere.
 */
export async function reserveIn(
  tx: Queryable,
  inputs: readonly HoldInput[],
  queue: QueueLimits,
): Promise<(HoldRefusal | undefined)[]> {
  for (const { amountNano } of inputs) checkAmount(amountNano);
  // Accounts are locked in the order of their workspaces, everywhere.
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
    return row && { error: refusalOf(row, bound)!, mayFitSoon: fitsButForIdle(row, bound) };
  });
}

/** The entry that ended a hold. */
export interface Settled {
  /** It was written now; else the hold had ended before. */
  readonly isNew: boolean;
  readonly kind: "charge" | "void" | "expire";
  /** What was charged in all. */
  readonly amountNano: bigint;
  /** Its hold had expired while it still ran: it was charged by an entry of its own. */
  readonly isLate: boolean;
}

/**
 * Ends a hold within `tx`: charges it, or (null) voids it. A second time it is answered with what happened the first time; undefined where
 * there is no such hold. One that had expired while its work went on is charged all the same, by an entry of its own.
 */
export async function settleIn(
  tx: Queryable,
  { id, workspaceId }: CallName,
  chargeNano: bigint | null,
): Promise<Settled | undefined> {
  if (chargeNano !== null) checkAmount(chargeNano);
  const [row] = await tx.query<SnakeCased<Settled>>(
    "select * from ledger_settle($1, $2, $3)",
    [workspaceId, id, chargeNano],
    { name: "ledger_settle" },
  );
  return row && camelCased(row);
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
