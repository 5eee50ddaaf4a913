/**
 * The directory `database` in the data directory, with all that belongs to the server. Under root it is root's, and the server's
 * user may only pass it: whoever gets hold of the server must not lead root's next start elsewhere by a link. In a data directory
 * of another user it is that user's, who goes on with it without root.
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

/** @throws DataDirectoryUnusableError, always */
export function refuse(directory: string, why: string): never {
  throw new DataDirectoryUnusableError(dirname(directory), new Error(why));
}

/** Makes it where there is none. @throws DataDirectoryUnusableError for links in it that are not of root */
export function prepareHome(directory: string, identity: Identity | undefined): void {
  makeDirectory(directory, 0o700);
  if (identity === undefined) return chmodSync(directory, 0o700);
  if (statSync(dirname(directory)).uid !== 0) {
    chownSync(directory, identity.uid, identity.gid);
    return chmodSync(directory, 0o700);
  }
  chownSync(directory, 0, identity.gid);
  chmodSync(directory, 0o710);
  // Of a time when it was the server's user's.
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

/** Makes a directory in it, for the server's user alone. */
export function makeOwned(path: string, identity: Identity | undefined): void {
  mkdirSync(path, { mode: 0o700 });
  if (identity !== undefined) chownSync(path, identity.uid, identity.gid);
}

/** The major versions whose data is there, ascending. */
export function majorsIn(directory: string): number[] {
  try {
    const names = readdirSync(directory).filter((name) => /^\d+$/.test(name));
    return names.map(Number).sort((a, b) => a - b);
  } catch {
    return [];
  }
}

/** Gives what `from` names another name, which is on the disk before anything is acknowledged under it. */
export function takePlace(directory: string, from: string, to: string): void {
  renameSync(join(directory, from), join(directory, to));
  syncDirectoryNow(directory);
}
