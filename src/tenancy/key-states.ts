/**
 * The moves between the states of an API key: active <-> disabled, both -> revoked, and never back from there.
 * KEY-08 to KEY-13. Each move is one compare-and-set statement; a move to the
 * state the key is in already changes nothing and is no error, so that it can be repeated after a lost answer.
 */
import { GatewayError } from "../base/errors.ts";
import { changeRow } from "./changes.ts";
import type { ChangeContext } from "./context.ts";
import type { KeyRecord, KeyRow, KeyStatus } from "./key-record.ts";
import { keyColumns, keyOfRow } from "./key-record.ts";
import type { KeyReference } from "./keys.ts";
import { getKey, referenceParams, whereReference } from "./keys.ts";

/** Who moves a key. */
interface Mover {
  /** Whether it is an administrator, whose word binds the owner of the key (key-bounds.ts). */
  readonly binding?: boolean;
}

/** Every request with the key fails from now on, until it is enabled again. @throws GatewayError `conflict`, `not_found` */
export function disableKey(
  context: ChangeContext,
  reference: KeyReference,
  mover: Mover = {},
): Promise<KeyRecord> {
  return move(context, reference, { from: ["active"], to: "disabled", ...mover });
}

/**
 * Back to active (KEY-10). What an administrator disabled, an administrator enables.
 * @throws GatewayError `conflict` when revoked (KEY-12), `not_found`, `insufficient_permissions`
 */
export function enableKey(
  context: ChangeContext,
  reference: KeyReference,
  mover: Mover = {},
): Promise<KeyRecord> {
  return move(context, reference, { from: ["disabled"], to: "active", ...mover });
}

/** For good. Charges already made, and tasks already running, are not touched (KEY-13). @throws GatewayError `not_found` */
export function revokeKey(context: ChangeContext, reference: KeyReference): Promise<KeyRecord> {
  return move(context, reference, { from: ["active", "disabled"], to: "revoked" });
}

interface Move extends Mover {
  readonly from: readonly KeyStatus[];
  readonly to: KeyStatus;
}

const bound = `bounds @> '{"disabled": true}'`;

function move(
  context: ChangeContext,
  reference: KeyReference,
  { from, to, binding = false }: Move,
): Promise<KeyRecord> {
  return changeRow(context.database, "keys", async (tx) => {
    // What its owner disabled, an administrator may disable once more: then it is for administrators to enable.
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
        "An administrator disabled this key: it takes one to enable it.",
      );
    throw new GatewayError("conflict", `The API key is ${record.status} and cannot become ${to}.`);
  });
}

/** So many keys move in one statement. */
const keysAtOnce = 1_000;

interface Together {
  readonly workspaceId: string;
  /** Which keys of the workspace, as SQL of `$5`, and its value. */
  readonly which: string;
  readonly value: unknown;
}

/** Those of some keys that are in the state `from`, moved; as they are then. Announced as one change of the workspace. */
async function moveTogether(
  { database, clock }: ChangeContext,
  { workspaceId, which, value }: Together,
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

/** Disables the active keys that somebody made in a workspace, some at a time: call again until there are none. */
export const disableKeysOf = (
  context: ChangeContext,
  { workspaceId, userId }: { readonly workspaceId: string; readonly userId: string },
): Promise<KeyRecord[]> =>
  moveTogether(
    context,
    { workspaceId, which: "created_by = $5", value: userId },
    { from: "active", to: "disabled" },
  );

/** Enables those of these keys that are disabled and were not so by an administrator's word, some at a time: call again until there are none. */
export const enableKeys = (
  context: ChangeContext,
  { workspaceId, ids }: { readonly workspaceId: string; readonly ids: readonly string[] },
): Promise<KeyRecord[]> =>
  moveTogether(
    context,
    { workspaceId, which: `id = any($5::text[]) and not ${bound}`, value: ids },
    { from: "disabled", to: "active" },
  );
