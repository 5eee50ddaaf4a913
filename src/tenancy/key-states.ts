/**
 * The transitions between the states of an API key: active <-> disabled, both -> revoked; revoked is final. KEY-08 to KEY-13. Each
 * transition is one compare-and-set statement. A transition to the current state changes nothing and is no error, so that a caller
 * can retry it after a lost answer.
 */
import { GatewayError } from "../base/errors.ts";
import { changeRow } from "./changes.ts";
import type { ChangeContext } from "./context.ts";
import type { KeyRecord, KeyRow, KeyStatus } from "./key-record.ts";
import { keyColumns, keyOfRow } from "./key-record.ts";
import type { KeyReference } from "./keys.ts";
import { getKey, referenceParams, whereReference } from "./keys.ts";

/** The caller that changes the state of a key. */
interface Actor {
  /** True for an administrator, whose decision binds the owner of the key (key-bounds.ts). */
  readonly binding?: boolean;
}

/** Every request with the key fails from now on, until it is enabled again. @throws GatewayError `conflict`, `not_found` */
export function disableKey(
  context: ChangeContext,
  reference: KeyReference,
  actor: Actor = {},
): Promise<KeyRecord> {
  return transition(context, reference, { from: ["active"], to: "disabled", ...actor });
}

/**
 * Enables a disabled key (KEY-10). If an administrator disabled it, only an administrator may enable it.
 * @throws GatewayError `conflict` when revoked (KEY-12), `not_found`, `insufficient_permissions`
 */
export function enableKey(
  context: ChangeContext,
  reference: KeyReference,
  actor: Actor = {},
): Promise<KeyRecord> {
  return transition(context, reference, { from: ["disabled"], to: "active", ...actor });
}

/** Revokes a key permanently. Charges already made, and running tasks, are not affected (KEY-13). @throws GatewayError `not_found` */
export function revokeKey(context: ChangeContext, reference: KeyReference): Promise<KeyRecord> {
  return transition(context, reference, { from: ["active", "disabled"], to: "revoked" });
}

interface Transition extends Actor {
  readonly from: readonly KeyStatus[];
  readonly to: KeyStatus;
}

const bound = `bounds @> '{"disabled": true}'`;

function transition(
  context: ChangeContext,
  reference: KeyReference,
  { from, to, binding = false }: Transition,
): Promise<KeyRecord> {
  return changeRow(context.database, "keys", async (tx) => {
    // An administrator may disable a key that its owner disabled: from then on only an administrator may enable it.
    const [row] = await tx.query<KeyRow>(
      `update api_keys set status = $3, updated_at = $4, revoked_at = case when $3 = 'revoked' then $4 else revoked_at end,
         bounds = case when $6 then bounds || jsonb_build_object('disabled', $3 = 'disabled') else bounds end
       where ${whereReference} and (status = any($5::text[]) or $6 and status = $3 and $3 = 'disabled' and not ${bound})
         and ($6 or $3 <> 'active' or not ${bound})
       returning ${keyColumns}`,
      [...referenceParams(reference), to, new Date(context.clock.now()), from, binding],
    );
    if (row !== undefined) return keyOfRow(row);
    const record = await getKey({ ...context, database: tx }, reference);
    if (record.status === to) return record;
    if (from.includes(record.status))
      throw new GatewayError(
        "insufficient_permissions",
        "An administrator disabled this key: only an administrator can enable it.",
      );
    throw new GatewayError("conflict", `The API key is ${record.status} and cannot become ${to}.`);
  });
}

/** The most keys that one statement changes. */
const keysAtOnce = 1_000;

interface KeySelection {
  readonly workspaceId: string;
  /** SQL condition on `$5` that selects keys of the workspace, and the value of `$5`. */
  readonly which: string;
  readonly value: unknown;
}

/** Moves the selected keys in state `from` to state `to` and returns them as changed. Announced as one change of the workspace. */
async function transitionMany(
  { database, clock }: ChangeContext,
  { workspaceId, which, value }: KeySelection,
  { from, to }: Readonly<Record<"from" | "to", KeyStatus>>,
): Promise<KeyRecord[]> {
  const { moved } = await changeRow(database, "workspaces", async (tx) => {
    const rows = await tx.query<KeyRow>(
      `update api_keys set status = $2, updated_at = $3
       where workspace_id = $1 and id in (
         select id from api_keys where workspace_id = $1 and status = $4 and ${which} order by id limit ${keysAtOnce} for update)
       returning ${keyColumns}`,
      [workspaceId, to, new Date(clock.now()), from, value],
    );
    return { id: workspaceId, moved: rows.map(keyOfRow) };
  });
  return moved;
}

/** Disables the active keys that a user made in a workspace, in batches: call it until it returns none. */
export const disableKeysOf = (
  context: ChangeContext,
  { workspaceId, userId }: { readonly workspaceId: string; readonly userId: string },
): Promise<KeyRecord[]> =>
  transitionMany(
    context,
    { workspaceId, which: "created_by = $5", value: userId },
    { from: "active", to: "disabled" },
  );

/**
 * Enables those of these keys that are disabled, except those that an administrator disabled, in batches: call it until it returns
 * none.
 */
export const enableKeys = (
  context: ChangeContext,
  { workspaceId, ids }: { readonly workspaceId: string; readonly ids: readonly string[] },
): Promise<KeyRecord[]> =>
  transitionMany(
    context,
    { workspaceId, which: `id = any($5::text[]) and not ${bound}`, value: ids },
    { from: "disabled", to: "active" },
  );
