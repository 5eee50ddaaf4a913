/**
 * The master key: 32 bytes from which every other secret is derived. docs/data.md.
 * It comes from TOLLGATE_MASTER_KEY, else from `<data directory>/master-key`, which the first start writes.
 */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { link, open, readFile, unlink } from "node:fs/promises";
import path from "node:path";
import { makeDirectory } from "../base/data-directory.ts";
import { quotedHint } from "../base/quoted.ts";
import { syncDirectory } from "../base/sync-directory.ts";

/** The master key is unusable: malformed, unreadable, or not the one this database was set up with. */
export class MasterKeyError extends Error {
  override name = "MasterKeyError";
}

export interface MasterKeySource {
  /** The value of TOLLGATE_MASTER_KEY; empty counts as absent. */
  readonly masterKey?: string | undefined;
  /** The value of TOLLGATE_MASTER_KEY_PREVIOUS, set during a rotation of the master key. */
  readonly previousMasterKey?: string | undefined;
  /** The directory that stores the master key if the environment has none; the first start generates it there. */
  readonly dataDir: string;
}

/** True if a master key exists, so that {@link loadMasterKey} would not generate one. */
export const hasMasterKey = ({ masterKey, dataDir }: MasterKeySource): boolean =>
  Boolean(masterKey) || existsSync(path.join(dataDir, "master-key"));

/**
 * Checks the given master keys without generating one, so that nothing is written if a given key is unusable. @throws MasterKeyError
 * as {@link loadMasterKey}
 */
export async function checkMasterKeys(source: MasterKeySource): Promise<void> {
  const isGiven = hasMasterKey(source);
  if (isGiven) await loadMasterKey(source);
  if (isGiven || source.previousMasterKey) await loadPrevious(source);
}

/**
 * Loads the master key, and the previous one if given: by its variable, or in `master-key.previous` beside the file. Newest first.
 * @throws MasterKeyError as `loadMasterKey`
 */
export async function loadMasterKeys(source: MasterKeySource): Promise<Buffer[]> {
  const newest = await loadMasterKey(source);
  const previous = await loadPrevious(source);
  return previous === undefined || previous.equals(newest) ? [newest] : [newest, previous];
}

/** The previous master key, during a rotation; undefined if none is given. @throws MasterKeyError */
export async function loadPrevious(source: MasterKeySource): Promise<Buffer | undefined> {
  if (source.previousMasterKey)
    return decode(source.previousMasterKey, "TOLLGATE_MASTER_KEY_PREVIOUS");
  if (source.masterKey) return undefined;
  const file = path.join(source.dataDir, "master-key.previous");
  const stored = await readIfThere(file);
  return stored === undefined ? undefined : decode(stored, file);
}

/**
 * Loads the 32 bytes of the master key. If neither source has them, generates and stores them; processes that start together agree on
 * one.
 * @throws MasterKeyError that says what to do; its text never contains the key.
 */
export async function loadMasterKey(source: MasterKeySource): Promise<Buffer> {
  if (source.masterKey) return decode(source.masterKey, "TOLLGATE_MASTER_KEY");
  const file = path.join(source.dataDir, "master-key");
  const stored = await readIfThere(file);
  if (stored !== undefined) return decode(stored, file);
  await writeOnce(file, `${randomBytes(32).toString("base64")}\n`);
  return decode(await readFile(file, "utf8"), file);
}

function decode(text: string, origin: string): Buffer {
  const trimmed = text.trim();
  const bytes = Buffer.from(trimmed, "base64");
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed) || bytes.length !== 32) {
    throw new MasterKeyError(
      `${origin} is not a master key: it must be 32 bytes in base64 (44 characters), ` +
        `such as \`openssl rand -base64 32\` prints${quotedHint(trimmed)}.`,
    );
  }
  return bytes;
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (isCode(error, "ENOENT")) return undefined;
    throw new MasterKeyError(`The master key file ${file} cannot be read.`, { cause: error });
  }
}

/**
 * Creates the file with its whole content, or keeps an existing file. A hard link is atomic and never replaces a file: a reader never
 * sees half a key, and a crash leaves at most a temporary file. The file is synced to disk before anything is encrypted under the
 * key.
 */
async function writeOnce(file: string, content: string): Promise<void> {
  const temporary = `${file}.${process.pid}.${randomBytes(6).toString("hex")}`;
  try {
    makeDirectory(path.dirname(file));
    const handle = await open(temporary, "wx", 0o600);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    try {
      await link(temporary, file);
    } catch (error) {
      if (!isCode(error, "EEXIST")) throw error;
    } finally {
      await unlink(temporary);
    }
    await syncDirectory(path.dirname(file));
  } catch (error) {
    throw new MasterKeyError(
      `The master key cannot be stored in ${file}. ` +
        "Make TOLLGATE_DATA_DIR a directory that can be written, or set TOLLGATE_MASTER_KEY.",
      { cause: error },
    );
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
