/**
 * Rotates the master key while gateways run. One transaction puts the new key in force. Then every sealed value is resealed, if it is
 * unchanged since it was read. After that the database itself refuses values under any other key. The rotation may be stopped at any
 * moment and run again, even by two processes at once. docs/data.md "Replacing the master key".
 */
import { counted } from "../base/counted.ts";
import type { Database, Queryable } from "../storage/index.ts";
import type { DerivedKeys } from "./derived-keys.ts";
import { MasterKeyError, type MasterKeySource } from "./master-key.ts";
import {
  activeOf,
  openRetained,
  openMasterKeys,
  readMasterKeyState,
  sealRetained,
  type MasterKeyRotation,
} from "./open-secrets.ts";
import { waitUntilAllSeal, requireNewKeyHeld, RotationRefusedError } from "./rotation-gateways.ts";
import { signingSealName } from "./seal-names.ts";
import {
  countSealed,
  nextSealed,
  replaceSealed,
  sealedColumns,
  type SealedColumn,
} from "./sealed-values.ts";
import { checkNameOf, secretsOf } from "./secrets.ts";

/** The signal on which gateways reread which master key is in force. */
export const masterKeySignal = "master_key";

/** Progress of a rotation: how many values of a table are resealed. */
export interface RotationProgress {
  readonly table: string;
  readonly done: number;
}

export interface RotationOptions extends MasterKeySource {
  readonly database: Database;
  readonly progress?: ((progress: RotationProgress) => void) | undefined;
  /** Records the rotation, in the transaction that puts the new key in force. Takes the ids of the keys. */
  readonly note?:
    | ((tx: Queryable, keys: { readonly from: string; readonly to: string }) => Promise<void>)
    | undefined;
  /** How long, in ms, gateways may take to report that they seal with the new key; a minute if absent. */
  readonly gatewaysMsMax?: number | undefined;
}

/** The result of a run. */
export interface RotationEnd {
  /** Ids of the master keys. `from` is null if the database was never under another one. */
  readonly from: string | null;
  readonly to: string;
  /** How many values this run resealed, by `table.column`. */
  readonly resealed: Readonly<Record<string, number>>;
}

interface Keys {
  /** The previously active key, if it is given. */
  readonly from: DerivedKeys | undefined;
  readonly to: DerivedKeys;
}

/**
 * Puts the newest of the given master keys in force and seals everything under it.
 * @throws MasterKeyError if no given key is in force; RotationRefusedError
 */
export async function rotateMasterKey(options: RotationOptions): Promise<RotationEnd> {
  const { database } = options;
  const held = await openMasterKeys(options);
  const to = held[0]!;
  const state = await readMasterKeyState(database);
  const active = activeOf(held, state);
  if (active.id === to.id && state.rotation === undefined)
    return { from: null, to: to.id, resealed: {} };
  // After a finished rotation, `from` may be the very key that is put in force again now.
  const before = active.id === to.id ? state.rotation!.from : active.id;
  const from = held.find(({ id }) => id === before);
  const keys = { from, to };
  if (active.id !== to.id) await putInForce(options, { from: active, to });
  const resealed: Record<string, number> = {};
  const add = (counts: Readonly<Record<string, number>>): number =>
    Object.entries(counts).reduce((sum, [where, count]) => {
      resealed[where] = (resealed[where] ?? 0) + count;
      return sum + count;
    }, 0);
  add(await resealAll(options, keys));
  await waitUntilAllSeal(options, to.id);
  // Reseal values that gateways sealed before they switched, until a whole pass finds none.
  while (add(await resealAll(options, keys)) > 0);
  await finish(database, to);
  return { from: before, to: to.id, resealed };
}

/** Switches the active key in one transaction. After it, every gateway that rereads the settings seals under the new key. */
async function putInForce(
  { database, note }: RotationOptions,
  keys: Required<Keys>,
): Promise<void> {
  const { from, to } = keys as { readonly from: DerivedKeys; readonly to: DerivedKeys };
  await database.transaction(async (tx) => {
    await tx.query("set local statement_timeout = 0");
    // Block new workspaces and changes of signing secrets until the secrets derived from the old key are stored.
    await tx.query("lock table workspaces in share row exclusive mode");
    await tx.query("select 1 from settings where name = 'master_key_check' for update");
    const state = await readMasterKeyState(tx);
    const active = activeOf([to, from], state);
    if (active.id === to.id) return;
    await requireNewKeyHeld(tx, to.id);
    if (state.rotation?.state === "rewriting")
      throw new RotationRefusedError(
        `The replacement of ${state.rotation.from} by ${state.rotation.to} has not ended: run it to its end with those two keys first.`,
      );
    const rotation: MasterKeyRotation = { from: from.id, to: to.id, state: "rewriting" };
    await put(tx, "master_key_check", checkNameOf(to, true));
    await put(tx, "master_key_kept", sealRetained(to, openRetained(from, state.kept)));
    await put(tx, "master_key_rotation", rotation);
    await storeSigningSecrets(tx, { from, to });
    await note?.(tx, { from: from.id, to: to.id });
    await database.signals.publish(masterKeySignal, to.id, tx);
  });
}

const put = (tx: Queryable, name: string, value: unknown): Promise<object[]> =>
  tx.query(
    `insert into settings (name, value) values ($1, $2::jsonb)
     on conflict (name) do update set value = excluded.value`,
    [name, JSON.stringify(value)],
  );

/** Stores the signing secrets, which are derived from the old key: receivers keep verifying signatures with them. */
async function storeSigningSecrets(
  tx: Queryable,
  { from, to }: { readonly from: DerivedKeys; readonly to: DerivedKeys },
): Promise<void> {
  const sealed = (id: string, version: number): Buffer =>
    to.seal(
      "text",
      signingSealName(id, version),
      Buffer.from(from.signingSecret(id, version)),
      true,
    );
  const rows = await tx.query<{ id: string; version: number }>(
    "select id, signing_version as version from workspaces",
  );
  for (let at = 0; at < rows.length; at += 1_000) {
    const some = rows.slice(at, at + 1_000);
    await tx.query(
      `update workspaces w set signing_sealed = coalesce(w.signing_sealed, n.own),
         signing_previous_sealed = case when w.signing_version > 1 then coalesce(w.signing_previous_sealed, n.previous) end
       from unnest($1::text[], $2::bytea[], $3::bytea[]) as n (id, own, previous) where w.id = n.id`,
      [
        some.map(({ id }) => id),
        some.map(({ id, version }) => sealed(id, version)),
        some.map(({ id, version }) => sealed(id, version - 1)),
      ],
    );
  }
}

/** One pass over all columns: reseals every value that is not under the new key. @returns how many values, by column */
async function resealAll(options: RotationOptions, keys: Keys): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const column of sealedColumns)
    counts[`${column.table}.${column.column}`] = await resealColumn(options, keys, column);
  return counts;
}

async function resealColumn(
  { database, progress }: RotationOptions,
  { from, to }: Keys,
  column: SealedColumn,
): Promise<number> {
  const held = from === undefined ? [to] : [to, from];
  const secrets = secretsOf(() => ({
    held,
    active: to,
    marked: true,
    kept: openRetained(to, undefined),
  }));
  const opened = (name: string, sealed: Buffer): Buffer =>
    column.kind === "text"
      ? secrets.seal(name, secrets.unseal(name, sealed))
      : secrets.sealBytes(name, secrets.unsealBytes(name, sealed));
  let after: readonly string[] | undefined;
  let done = 0;
  for (;;) {
    const rows = await nextSealed(database, column, { except: to.id, after });
    if (rows.length === 0) return done;
    after = rows.at(-1)!.key;
    const values = rows.flatMap((old) => {
      if (old.sealed === null) return [];
      try {
        return [{ old, sealed: opened(old.name, old.sealed) }];
      } catch {
        // A gateway that missed an earlier rotation may have sealed it under a key that no longer exists.
        if (column.kind === "body" && from !== undefined) return [];
        throw unreadable(column, old.key);
      }
    });
    if (values.length === 0) continue;
    done += await replaceSealed(database, column, values);
    progress?.({ table: column.table, done });
  }
}

const unreadable = ({ table, column }: SealedColumn, key: readonly string[]): MasterKeyError =>
  new MasterKeyError(
    `The column ${column} of ${table}, row ${key.join(" ")}, is opened by none of the master keys that are given. ` +
      "Set TOLLGATE_MASTER_KEY_PREVIOUS to the one that the database was under before. Nothing is lost: what was sealed again stays so.",
  );

/** Ends the rotation: from now on the database refuses keys and credentials that are sealed under any other master key. */
async function finish(database: Database, to: DerivedKeys): Promise<void> {
  await database.transaction(async (tx) => {
    const [row] = await tx.query<{ value: MasterKeyRotation }>(
      "select value from settings where name = 'master_key_rotation' for update",
    );
    if (row?.value.to !== to.id)
      throw new RotationRefusedError("The master key was replaced by another one meanwhile.");
    // Writers of these columns wait for the locked row. Bodies are left out: gateways read them only to show them.
    const columns = sealedColumns.filter(({ kind }) => kind === "text");
    const left = await countSealed(tx, { except: to.id, columns });
    if (left > 0)
      throw new RotationRefusedError(
        `${counted(left, "value was", "values were")} sealed under another key meanwhile: run it again.`,
      );
    await put(tx, "master_key_rotation", { ...row.value, state: "done" });
  });
}

/** The state of a rotation, for `tollgate doctor`: how many values are left to reseal, and whether the previous key is given. */
export async function masterKeyProgress(
  options: MasterKeySource & { readonly database: Queryable },
): Promise<{
  readonly isPending: boolean;
  readonly left: number;
  readonly isPreviousGiven: boolean;
}> {
  const held = await openMasterKeys(options);
  const state = await readMasterKeyState(options.database);
  const active = activeOf(held, state);
  const isPending = active.id !== held[0]!.id || state.rotation?.state === "rewriting";
  const left = isPending ? await countSealed(options.database, { except: held[0]!.id }) : 0;
  return { isPending, left, isPreviousGiven: held.length > 1 };
}
