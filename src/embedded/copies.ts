/** Copies PostgreSQL's programs for a server's user that cannot read the package's files. */
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { hostname } from "node:os";
import { dirname, join, relative } from "node:path";
import { makeDirectory } from "../base/data-directory.ts";
import { hourMs } from "../base/durations.ts";
import { isAlive, pidNamespace } from "../base/process-alive.ts";

/** The programs as npm installs them. */
export interface Programs {
  /** Their directory. */
  readonly native: string;
  readonly version: string;
}

/** Prefix of the names of unfinished copies; the place of process numbers and the process id follow. */
const copyPrefix = "copy-";
/** Where process ids are those of this process: a machine, or a container on it. */
const pidPlace = hostname().replaceAll(/[^a-z0-9]/gi, "") + pidNamespace;
/**
 * Age at which a copy counts as abandoned; copying takes seconds. Needed because the process of another machine or container cannot be
 * checked.
 */
const copyMsMax = hourMs;

interface Link {
  /** The existing file, and the path of the link; both are relative to the package's root. */
  readonly source: string;
  readonly target: string;
}

/** The links that the package lacks, because npm cannot pack them. */
export function linksOf(native: string): Link[] {
  const list = join(native, "pg-symlinks.json");
  return existsSync(list) ? (JSON.parse(readFileSync(list, "utf8")) as Link[]) : [];
}

/** True for a directory that this user owns and no other user can write to. */
function isPrivate(directory: string): boolean {
  const found = lstatSync(directory, { throwIfNoEntry: false });
  if (found === undefined) return false;
  return found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o022) === 0;
}

/**
 * Copies the programs below `place`, unless they are there. Removes unfinished copies of processes that have ended.
 * @returns the directory of the programs
 */
export function copyPrograms(place: string, { native, version }: Programs): string {
  if (!existsSync(place)) {
    makeDirectory(place, 0o755);
    // The server's user must be able to pass, whatever root's umask is.
    chmodSync(place, 0o755);
  }
  if (process.platform !== "win32" && !isPrivate(place))
    throw new Error(`${place} belongs to another user, or others may write to it`);
  const target = join(place, `postgresql-${version}`);
  removeLeftovers(place);
  if (existsSync(target)) return target;
  const temporary = mkdtempSync(join(place, `${copyPrefix}${pidPlace}-${process.pid}-`));
  try {
    cpSync(native, temporary, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (from) => !from.endsWith(".a"),
    });
    for (const { source, target: link } of linksOf(native)) {
      const at = join(temporary, relative("native", link));
      if (lstatSync(at, { throwIfNoEntry: false }) !== undefined) continue;
      symlinkSync(relative(dirname(at), join(temporary, relative("native", source))), at);
    }
    for (const name of readdirSync(join(temporary, "bin")))
      chmodSync(join(temporary, "bin", name), 0o755);
    if (process.platform !== "win32") openToAll(temporary);
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    // Another process has finished its copy first.
    if (!existsSync(target)) throw error;
  }
  return target;
}

/** True if no other user can replace `place` with a link while something below it is removed. */
function isSafeToRemoveIn(place: string): boolean {
  if (process.platform === "win32") return true;
  const above = statSync(dirname(place));
  const isSticky = (above.mode & 0o1000) !== 0;
  return [0, process.getuid?.()].includes(above.uid) && (isSticky || (above.mode & 0o022) === 0);
}

/** Removes copies whose process has ended: some 60 MB each. Leaves anything that is not a directory of this user. */
function removeLeftovers(place: string): void {
  if (!isSafeToRemoveIn(place)) return;
  for (const name of readdirSync(place)) {
    const path = join(place, name);
    try {
      if (name.startsWith(copyPrefix) && isLeftover(name, path))
        rmSync(path, { recursive: true, force: true });
    } catch {
      // A leftover only takes disk space.
    }
  }
}

function isLeftover(name: string, path: string): boolean {
  const found = lstatSync(path);
  if (!found.isDirectory() || (process.getuid && found.uid !== process.getuid())) return false;
  if (Date.now() - found.mtimeMs > copyMsMax) return true;
  const [owner, pid] = name.slice(copyPrefix.length).split("-");
  return owner === pidPlace && (Number(pid) === process.pid || !isAlive(Number(pid)));
}

function openToAll(directory: string): void {
  chmodSync(directory, 0o755);
  for (const entry of readdirSync(directory, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isSymbolicLink()) continue;
    chmodSync(path, entry.isDirectory() ? 0o755 : statSync(path).mode | 0o444);
  }
}
