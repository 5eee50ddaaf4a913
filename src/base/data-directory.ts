/** Creates missing directories, and reports those that cannot be created. docs/operate.md "The data directory". */
import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { syncDirectoryNow } from "./sync-directory.ts";

/** The data directory cannot be created, or this user may not write to it. */
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
 * Creates a directory and its missing parents, so that all of them survive a power failure. Creates them one by one: Node's `recursive`
 * loops for ever if a file system reports a missing entry although the parent exists, as below /proc.
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

/** As `makeDirectory`, below the data directory. @throws DataDirectoryUnusableError */
export function makeInDataDirectory(dataDir: string, path: string, mode?: number): void {
  try {
    makeDirectory(path, mode);
  } catch (error) {
    throw new DataDirectoryUnusableError(dataDir, error);
  }
}
