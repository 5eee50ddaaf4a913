/**
 * The secrets of an installation: the master keys given to this process, checked against the database, which says which one is in
 * force. docs/data.md "Replacing the master key".
 */
import { counted } from "../base/counted.ts";
import type { Queryable } from "../storage/index.ts";
import { deriveKeys, type DerivedKeys } from "./derived-keys.ts";
import {
  hasMasterKey,
  loadMasterKeys,
  loadPrevious,
  MasterKeyError,
  type MasterKeySource,
} from "./master-key.ts";
import { countSealed } from "./sealed-values.ts";
import {
  checkNameOf,
  retainedOf,
  keyOfCheck,
  secretsOf,
  type Keyring,
  type RetainedSecrets,
  type Secrets,
} from "./secrets.ts";

export interface SecretsOptions extends MasterKeySource {
  readonly database: Queryable;
}

/** Secrets that follow the master key in force in the database. */
export interface OpenSecrets extends Secrets {
  /** Reads again which master key is in force. @throws MasterKeyError if this process does not hold it */
  refresh(): Promise<void>;
}

/** The state of a master key rotation, with the ids of the keys. */
export interface MasterKeyRotation {
  readonly from: string;
  readonly to: string;
  readonly state: "rewriting" | "done";
}

/** The settings in the database about its master key. */
export interface MasterKeyState {
  /** The check value of the key in force; undefined before the first start. */
  readonly check: string | undefined;
  readonly rotation: MasterKeyRotation | undefined;
  /** The secrets that a rotation keeps, sealed, in base64. */
  readonly kept: string | undefined;
}

const retainedName = "secrets that stay";

/**
 * The master keys given to this process, newest first. Generates one at the first start, and when the key in force was moved aside as
 * the first step of a rotation. @throws MasterKeyError
 */
export async function openMasterKeys(options: SecretsOptions): Promise<DerivedKeys[]> {
  if (!hasMasterKey(options)) await refuseToMake(options);
  return (await loadMasterKeys(options)).map(deriveKeys);
}

/**
 * Refuses to generate a key if the database is under a key that was lost. A new key could open nothing, and its file would be
 * mistaken for the lost one. @throws MasterKeyError
 */
async function refuseToMake(options: SecretsOptions): Promise<void> {
  const { check } = await readMasterKeyState(options.database);
  if (check === undefined) return;
  const previous = await loadPrevious(options);
  const before = previous === undefined ? [] : [deriveKeys(previous)];
  if (keyOfCheck(before, check) === undefined) throw new MasterKeyError(noneGiven(options.dataDir));
}

/** Reads the settings about the master key. */
export async function readMasterKeyState(database: Queryable): Promise<MasterKeyState> {
  const rows = await database.query<{ name: string; value: unknown }>(
    "select name, value from settings where name in ('master_key_check', 'master_key_rotation', 'master_key_kept')",
  );
  const settings = new Map(rows.map(({ name, value }) => [name, value]));
  return {
    check: settings.get("master_key_check") as string | undefined,
    rotation: settings.get("master_key_rotation") as MasterKeyRotation | undefined,
    kept: settings.get("master_key_kept") as string | undefined,
  };
}

/** Seals the secrets that a rotation keeps, for storage. */
export const sealRetained = (
  keys: DerivedKeys,
  { pepper, sessionSecret }: RetainedSecrets,
): string => {
  const text = JSON.stringify({ pepper: pepper.toString("base64"), sessionSecret });
  return keys.seal("text", retainedName, Buffer.from(text), true).toString("base64");
};

/** Opens the secrets that a rotation keeps; without stored ones, derives them from the active key. */
export function openRetained(active: DerivedKeys, kept: string | undefined): RetainedSecrets {
  if (kept === undefined) return retainedOf(active);
  const bytes = active.unseal("text", retainedName, Buffer.from(kept, "base64"));
  const { pepper, sessionSecret } = JSON.parse(bytes.toString()) as Record<string, string>;
  return { pepper: Buffer.from(pepper!, "base64"), sessionSecret: sessionSecret! };
}

const anotherKey =
  "The master key is not the one this database was set up with, so no API key could be recognised and no provider's key be read. " +
  "Set TOLLGATE_MASTER_KEY to the original value, or restore the file `master-key` in the data directory.";
const noneGiven = (dataDir: string): string =>
  "This database was set up with a master key, and none is given here: TOLLGATE_MASTER_KEY is not set, and there is no file `master-key` " +
  `in ${dataDir}. Set TOLLGATE_MASTER_KEY to the original value, or restore the file.`;
const rotatedAway =
  "The master key of this database was replaced, and the one given here is not in force any more. " +
  "Set TOLLGATE_MASTER_KEY to the new value (docs/data.md, Replacing the master key).";
const anotherSince =
  "The master key is not the one in force in this database, whose master key was replaced before. So no API key could be recognised " +
  "and no provider's key be read. Set TOLLGATE_MASTER_KEY to the value in force, or restore the file `master-key` in the data directory.";

/** The error message when no held key is in force. */
function whyNone(held: readonly DerivedKeys[], { rotation }: MasterKeyState): string {
  if (rotation === undefined) return anotherKey;
  return held.some(({ id }) => id === rotation.from) ? rotatedAway : anotherSince;
}

/** The held key that is in force. @throws MasterKeyError if none is */
export function activeOf(held: readonly DerivedKeys[], state: MasterKeyState): DerivedKeys {
  const active = state.check === undefined ? undefined : keyOfCheck(held, state.check);
  if (active !== undefined) return active;
  throw new MasterKeyError(whyNone(held, state));
}

async function readRing(database: Queryable, held: readonly DerivedKeys[]): Promise<Keyring> {
  const state = await readMasterKeyState(database);
  const active = activeOf(held, state);
  const { rotation } = state;
  if (rotation?.state === "rewriting" && !held.some(({ id }) => id === rotation.from)) {
    const left = await countSealed(database, { except: active.id });
    if (left > 0)
      throw new MasterKeyError(
        `${counted(left, "value in the database is", "values in the database are")} still sealed under the master key before this one (its id is ${rotation.from}), ` +
          "which is not given here. Set TOLLGATE_MASTER_KEY_PREVIOUS to it, and run `tollgate rotate-master-key` to its end.",
      );
  }
  const kept = openRetained(active, state.kept);
  return { held, active, marked: rotation !== undefined, kept };
}

/**
 * Opens the secrets of this installation, after checking that the database is under a given master key. The first start stores the
 * check value. Without the check, a wrong master key would look as if every API key had become unknown.
 * @throws MasterKeyError if no master key is usable, if it is not the one of this database, or if no given key opens some values.
 */
export async function openSecrets(options: SecretsOptions): Promise<OpenSecrets> {
  const { database } = options;
  const held = await openMasterKeys(options);
  await database.query(
    "insert into settings (name, value) values ('master_key_check', $1::jsonb) on conflict (name) do nothing",
    [JSON.stringify(checkNameOf(held[0]!, false))],
  );
  let ring = await readRing(database, held);
  const secrets = secretsOf(() => ring);
  return Object.assign(secrets, {
    async refresh() {
      ring = await readRing(database, held);
    },
  });
}
