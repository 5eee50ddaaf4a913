/** The file of a backup: what cannot be read or written is refused in words, before the database is opened. */
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
import { UsageError } from "./usage-error.ts";

/** @throws UsageError for what cannot be read */
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
 * Gives `write` the backup to write: a file beside its place, which is renamed at the end, so that one that was broken off never
 * has the name. `-` is standard output. Of two at once the one that began last is kept.
 * @throws UsageError for what cannot be written; BackupError for one that another took the place of
 */
export async function intoBackup<T>(path: string, write: (to: Writable) => Promise<T>): Promise<T> {
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
    // Whoever reads that it is written may do away with what it was made of.
    await syncDirectory(dirname(path));
    return end;
  } catch (error) {
    if (isOurs()) await rm(part, { force: true });
    throw wordsOf(error, path);
  } finally {
    forget();
  }
}

/** Removes what is half written where somebody ends the command: it may be as large as the disk. The signal then does what it does. */
function removeOnSignal(remove: () => void): () => void {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
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

/** What the name would be taken from: a directory, or a device such as /dev/null. */
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
    // A file of its own: that of a run that was killed goes, and one that is being written has its name no more.
    const there = lstatSync(part, { throwIfNoEntry: false });
    if (there?.isFile() === true) rmSync(part, { force: true });
    // A link is followed to where somebody wants the bytes.
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

/** A disk that is full has to do with the place, and is no fault of ours. */
function wordsOf(error: unknown, path: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  const isPlace = ["ENOSPC", "EDQUOT", "EFBIG", "EIO", "EROFS"].includes(code ?? "");
  if (!isPlace) return error;
  return new BackupError(
    `${path} could not be written (${code}); nothing of it is kept. Make room, or name another file`,
  );
}
