/** Directories that are made where they are missing, and what is said of one that cannot be. docs/operate.md "The data directory". */
import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { syncDirectoryNow } from "./sync-directory.ts";

/** The data directory cannot be made, or this user may not write to it. */
export class DataDirectoryUnusableError extends Error {
  constructor(dataDir: string, cause: unknown) {
    const why = cause instanceof Error ? cause.message : String(cause);
    super(
      `The data directory ${dataDir} cannot be used: ${why}. ` +
        "Make it writable for this user, or set TOLLGATE_DATA_DIR to another directory.",
      { cause },
    );
    this.name = "DataDirectoryUnusableError";
  }
}

const isDirectory = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/**
 * Makes a directory, with those above it, so that a power failure leaves none of them out. One at a time: Node's own `recursive` tries for ever where a file system says that
 * there is no such entry although the directory above exists, as below /proc.
 * @throws Error of the system
 */
export function makeDirectory(path: string, mode?: number): void {
  if (isDirectory(path)) return;
  if (dirname(path) !== path) makeDirectory(dirname(path), mode);
  try {
    mkdirSync(path, mode);
    syncDirectoryNow(dirname(path));
  } catch (error) {
    // Another process was faster.
    if (isDirectory(path)) return;
    if (existsSync(path)) throw new Error(`${path} is no directory`, { cause: error });
    throw error;
  }
}

/** The same below the data directory. @throws DataDirectoryUnusableError */
export function makeInDataDirectory(dataDir: string, path: string, mode?: number): void {
  try {
    makeDirectory(path, mode);
  } catch (error) {
    throw new DataDirectoryUnusableError(dataDir, error);
  }
}
