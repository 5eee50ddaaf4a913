/** Creates missing directories, and reports those that cannot be created. docs/data.md "The data directory". */
import { existsSync, lstatSync, mkdirSync, readdirSync, readlinkSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { syncDirectoryNow } from "./sync-directory.ts";

/** Fixes of a disk and of a limit of open files, by words of the system and of PostgreSQL. */
const diskFixes: readonly (readonly [words: RegExp, fix: string])[] = [
  [
    /no space left on device|check free disk space/i,
    "Free space on its disk (df -h), or inodes (df -i), and start again.",
  ],
  [/disk quota exceeded/i, "Raise the quota of its disk, or free space, and start again."],
  [/read-only file system/i, "Mount its file system writable, and start again."],
  [
    /too many open files|insufficient file descriptors/i,
    "Raise the limit of open files (ulimit -n), and start again.",
  ],
  [
    /is a link to a place that does not exist/,
    "Mount the disk of that place, or make it, and start again.",
  ],
];

/** Returns the fix if words of an error tell of a disk that takes no data, or of a limit of open files. */
export const diskFix = (words: string): string | undefined =>
  diskFixes.find(([known]) => known.test(words))?.[1];

/** The data directory cannot be created, or this user may not write to it, or its disk takes no data. */
export class DataDirectoryUnusableError extends Error {
  /** The problem, and how to fix it; the message has both. */
  readonly problem: string;
  readonly fix: string;

  constructor(dataDir: string, cause: unknown) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const problem = `The data directory ${dataDir} cannot be used: ${why}.`;
    const fix =
      diskFix(why) ??
      "Make it writable for this user, or set TOLLGATE_DATA_DIR to another directory.";
    super(`${problem} ${fix}`, { cause });
    this.problem = problem;
    this.fix = fix;
    this.name = "DataDirectoryUnusableError";
  }
}

/** True if this user may not look into the directory, so that it seems empty or missing. */
export function isClosed(directory: string): boolean {
  try {
    readdirSync(directory);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EACCES";
  }
}

/** The problem and fix of a command whose user may not look into the data directory. */
export const closedDirectory = (dataDir: string) => ({
  problem: `this user may not read the data directory ${dataDir}`,
  fix: "run the command as the gateway's user, such as by sudo -u",
});

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
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    if (!isLink) throw error;
    const place = `a place that does not exist, ${readlinkSync(path)}`;
    throw new Error(`${path} is a link to ${place}`, { cause: error });
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
