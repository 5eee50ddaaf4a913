/** The file of a backup. Unreadable or unwritable files are refused with an explanation before the database is opened. */
import {
  closeSync,
  createReadStream,
  createWriteStream,
  fstatSync,
  lstatSync,
  openSync,
  rmSync,
  statSync,
  type Stats,
} from "node:fs";
import { rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { Readable, Writable } from "node:stream";
import { BackupError } from "../backup/index.ts";
import { syncDirectory } from "../base/sync-directory.ts";
import { sameSignalMs } from "./signals.ts";
import { UsageError } from "./usage-error.ts";

/** Opens a backup to read. @throws UsageError for what cannot be read */
export function openBackup(path: string): Readable {
  let fd: number | undefined;
  try {
    fd = openSync(path, "r");
    if (!fstatSync(fd).isDirectory()) return createReadStream(path, { fd });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") throw new UsageError(`there is no file ${path}`);
    throw new UsageError(`${path} cannot be read (${code})`);
  }
  closeSync(fd);
  throw new UsageError(`${path} is a directory, and no backup`);
}

/**
 * Calls `write` with the stream to write the backup to: a temporary file beside `path`, renamed at the end. So an unfinished backup
 * never has the final name. `-` is standard output. If two backups to one path run at once, the one that started last is kept.
 * @throws UsageError for what cannot be written; BackupError if another backup has replaced this one
 */
export async function withBackupFile<T>(
  path: string,
  write: (to: Writable) => Promise<T>,
): Promise<T> {
  if (path === "-") return write(process.stdout);
  refuseOther(path);
  const part = `${path}.part`;
  const fd = openPart(path, part);
  const { ino } = fstatSync(fd, { bigint: true });
  const isOurs = (): boolean =>
    statSync(part, { bigint: true, throwIfNoEntry: false })?.ino === ino;
  const forget = removeOnSignal(() => {
    if (isOurs()) rmSync(part, { force: true });
  });
  try {
    const end = await write(createWriteStream(part, { fd, flush: true }));
    if (!isOurs())
      throw new BackupError(`another backup to ${path} was begun meanwhile; this one is not kept`);
    await rename(part, path);
    // Sync the rename before reporting success: the operator may then delete the original data.
    await syncDirectory(dirname(path));
    return end;
  } catch (error) {
    if (isOurs()) await rm(part, { force: true });
    throw wordsOf(error, path);
  } finally {
    forget();
  }
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Ends a restore that reads `source` when a signal comes: it rolls back and removes the files that it stored, which may fill the disk. A
 * second signal has its usual effect.
 * @returns a function that ends this
 */
export function destroyOnSignal(source: Readable): () => void {
  let firstMs: number | undefined;
  const end = (signal: NodeJS.Signals): void => {
    const nowMs = performance.now();
    if (firstMs === undefined) {
      firstMs = nowMs;
      source.destroy(new BackupError(`${signal} ended the restore`));
    } else if (nowMs - firstMs > sameSignalMs) {
      forget();
      process.kill(process.pid, signal);
    }
  };
  const forget = (): void => {
    for (const signal of signals) process.off(signal, end);
  };
  source.on("error", () => undefined);
  for (const signal of signals) process.on(signal, end);
  return forget;
}

/** Removes the partial file, which may fill the disk, when a signal ends the command. The signal then has its usual effect. */
function removeOnSignal(remove: () => void): () => void {
  const end = (signal: NodeJS.Signals): void => {
    forget();
    remove();
    process.kill(process.pid, signal);
  };
  const forget = (): void => {
    for (const signal of signals) process.off(signal, end);
  };
  for (const signal of signals) process.on(signal, end);
  return forget;
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Refuses a path that the rename would replace: a directory, or a device such as /dev/null. */
function refuseOther(path: string): void {
  const there = statOf(path);
  if (there === undefined || there.isFile()) return;
  throw new UsageError(
    there.isDirectory()
      ? `${path} is a directory; name the file in it, such as ${path.replace(/\/+$/, "")}/tollgate.backup`
      : `${path} is no file; name one, or - for standard output`,
  );
}

function openPart(path: string, part: string): number {
  try {
    // Always creates a new file. Removes the part of a killed run, and takes the name from a backup that is still being written.
    const there = lstatSync(part, { throwIfNoEntry: false });
    if (there?.isFile() === true) rmSync(part, { force: true });
    // A symbolic link is followed: the operator wants the bytes there.
    return openSync(part, there?.isSymbolicLink() === true ? "w" : "wx", 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const directory = dirname(path);
    if (code === "ENOENT" && statOf(directory) === undefined)
      throw new UsageError(`there is no directory ${directory}; make it, or name another file`);
    if (code === "ENOTDIR") throw new UsageError(`${directory} is no directory; name another file`);
    throw new UsageError(
      `no file can be written to the directory ${directory} (${code}); name another file, or - for standard output`,
    );
  }
}

/** Describes errors of the target disk, such as a full one, in words. Returns other errors unchanged. */
function wordsOf(error: unknown, path: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  const isPlace = ["ENOSPC", "EDQUOT", "EFBIG", "EIO", "EROFS"].includes(code ?? "");
  if (!isPlace) return error;
  return new BackupError(
    `${path} could not be written (${code}); nothing of it is kept. Make room, or name another file`,
  );
}
