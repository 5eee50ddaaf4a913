/**
 * The directory `database` in the data directory, with everything that belongs to the server. Under root, root owns it and the server's
 * user may only pass it. So an attacker who controls the server cannot redirect root's next start with a link. In a data directory of
 * another user, that user owns it and can keep using it without root.
 */
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { DataDirectoryUnusableError, makeDirectory } from "../base/data-directory.ts";
import { syncDirectoryNow } from "../base/sync-directory.ts";
import type { Identity } from "./identity.ts";

/** Closes the data directory to other users, if it belongs to this one. */
export function closeToOthers(dataDir: string): void {
  try {
    chmodSync(dataDir, 0o700);
  } catch (error) {
    // The root of a mounted volume may belong to root, and be writable for this user's group: Kubernetes' fsGroup.
    if ((error as NodeJS.ErrnoException).code !== "EPERM") throw error;
  }
}

/** @throws DataDirectoryUnusableError, always */
export function refuse(directory: string, why: string): never {
  throw new DataDirectoryUnusableError(dirname(directory), new Error(why));
}

/** Prepares the directory; creates it if there is none. @throws DataDirectoryUnusableError for links in it that are not of root */
export function prepareDatabaseDirectory(directory: string, identity: Identity | undefined): void {
  makeDirectory(directory, 0o700);
  if (identity === undefined) return chmodSync(directory, 0o700);
  if (statSync(dirname(directory)).uid !== 0) {
    chownSync(directory, identity.uid, identity.gid);
    return chmodSync(directory, 0o700);
  }
  chownSync(directory, 0, identity.gid);
  chmodSync(directory, 0o710);
  // Entries may date from a time when the server's user owned the directory.
  for (const name of readdirSync(directory)) {
    const found = lstatSync(join(directory, name));
    const isPlain = found.isDirectory() || (found.isFile() && found.nlink === 1);
    if (!isPlain && found.uid !== 0)
      refuse(
        directory,
        `database/${name} is no file of its own, and belongs to user ${found.uid}: remove it`,
      );
  }
}

/** Creates a directory that only the server's user can access. */
export function createOwnedDirectory(path: string, identity: Identity | undefined): void {
  mkdirSync(path, { mode: 0o700 });
  if (identity !== undefined) chownSync(path, identity.uid, identity.gid);
}

/** The major versions with data in `directory`, ascending. */
export function majorsIn(directory: string): number[] {
  try {
    const names = readdirSync(directory).filter((name) => /^\d+$/.test(name));
    return names.map(Number).sort((a, b) => a - b);
  } catch {
    return [];
  }
}

/** Renames `from` to `to`, and syncs the rename to disk before any write under the new name is acknowledged. */
export function renameDurably(directory: string, from: string, to: string): void {
  renameSync(join(directory, from), join(directory, to));
  syncDirectoryNow(directory);
}
