/**
 * The data's directory: `database/<major>` in the data directory. It is created under another name and renamed when it is complete, so
 * that half an `initdb` is never mistaken for a database.
 */
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fchownSync,
  lchownSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { DataDirectoryUnusableError, diskFix } from "../base/data-directory.ts";
import { NoEmbeddedDatabaseError } from "./binaries.ts";
import { majorsIn, createOwnedDirectory, refuse, renameDurably } from "./database-directory.ts";
import type { Identity } from "./identity.ts";
import { runProgram, pathForServer, type Site } from "./programs.ts";
import { configuration, customFile, customTemplate } from "./settings.ts";

const initMsMax = 120_000;

/**
 * Returns the older major version whose data must be carried over first; undefined if there is none.
 * @throws DataDirectoryUnusableError for data of a newer PostgreSQL, or of the first embedded database
 */
export function olderMajor(directory: string, major: number): number | undefined {
  if (existsSync(join(directory, "PG_VERSION"))) {
    refuse(
      directory,
      "database/ is of an earlier version of Tollgate with another embedded database (PGlite), which this one cannot read",
    );
  }
  const found = majorsIn(directory).at(-1);
  if (found === undefined || found === major) return undefined;
  if (found < major) return found;
  return refuse(
    directory,
    `its database is of PostgreSQL ${found}, and this version of Tollgate brings ${major}: run the newer Tollgate again`,
  );
}

/** Makes the server's user the owner of everything at `path`. A copy made by root belongs to root. */
function chownAll({ uid, gid }: Identity, path: string): void {
  for (const entry of readdirSync(path, { withFileTypes: true, recursive: true }))
    lchownSync(join(entry.parentPath, entry.name), uid, gid);
  chownSync(path, uid, gid);
}

/** The bits of a mode that PostgreSQL refuses: the group may write, or others may do anything. */
const refusedMode = 0o027;

function takeOwnership(cluster: string, identity: Identity | undefined): void {
  const { uid, mode } = statSync(cluster);
  if (identity === undefined) {
    const own = process.getuid?.();
    if (own === undefined) return;
    if (uid === own) {
      // Kubernetes gives the volumes of an fsGroup to the group at each start.
      if ((mode & refusedMode) !== 0) chmodSync(cluster, 0o700);
      return;
    }
    refuse(
      join(cluster, ".."),
      `its database belongs to user ${uid}, and this is user ${own}; PostgreSQL runs only as the owner of its data`,
    );
  }
  // Close the directory first, so that no other user can put a link into it while its owner changes.
  chmodSync(cluster, 0o700);
  if (uid !== identity.uid) chownAll(identity, cluster);
}

/**
 * Creates a new cluster under a temporary name, and returns that name. Each name is unique: an `initdb` that outlives its gateway keeps
 * writing under its name.
 */
export async function createCluster(
  site: Site,
  directory: string,
  passwordFile: string | undefined,
): Promise<string> {
  for (const name of readdirSync(directory).filter((name) => /^\d+\.new/.test(name)))
    rmSync(join(directory, name), { recursive: true, force: true, maxRetries: 5 });
  const unfinished = `${site.binaries.major}.new-${randomBytes(4).toString("hex")}`;
  createOwnedDirectory(join(directory, unfinished), site.identity);
  const access =
    passwordFile === undefined
      ? ["--auth=trust"]
      : ["--auth=scram-sha-256", `--pwfile=${passwordFile}`];
  const args = ["--pgdata", pathForServer(site, unfinished), "--username=postgres", ...access];
  args.push(
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
  );
  try {
    await runProgram(site, "initdb", [...args, "--data-checksums"], initMsMax);
  } catch (error) {
    if (/could not look up effective user ID/.test(String(error)))
      throw new NoEmbeddedDatabaseError(
        "the user it would run as has no name (in /etc/passwd), which PostgreSQL asks for",
      );
    if (diskFix(String(error)) !== undefined)
      throw new DataDirectoryUnusableError(dirname(directory), error);
    throw error;
  }
  writeConfiguration(join(directory, unfinished), site.identity);
  return unfinished;
}

/**
 * Writes `postgresql.conf`. Under root the directory belongs to the server's user, so it creates a new file and renames it: a link
 * placed there is not followed.
 */
function writeConfiguration(cluster: string, identity: Identity | undefined): void {
  const path = join(cluster, "postgresql.conf");
  const fresh = `${path}.new`;
  rmSync(fresh, { force: true });
  const file = openSync(fresh, "wx", 0o600);
  try {
    writeFileSync(file, configuration);
    if (identity !== undefined) fchownSync(file, identity.uid, identity.gid);
  } finally {
    closeSync(file);
  }
  renameSync(fresh, path);
}

/**
 * Prepares the directory so that the server can start; creates the database if there is none.
 * @param directory `database` in the data directory, prepared by {@link prepareDatabaseDirectory}
 * @throws DataDirectoryUnusableError for data of another user
 */
export async function prepareCluster(
  site: Site,
  directory: string,
  passwordFile?: string,
): Promise<void> {
  const cluster = join(directory, String(site.binaries.major));
  if (!existsSync(cluster))
    renameDurably(
      directory,
      await createCluster(site, directory, passwordFile),
      String(site.binaries.major),
    );
  takeOwnership(cluster, site.identity);
  const custom = join(directory, customFile);
  if (!existsSync(custom)) writeFileSync(custom, customTemplate, { mode: 0o600 });
  if (site.identity !== undefined) chownSync(custom, site.identity.uid, site.identity.gid);
  writeConfiguration(cluster, site.identity);
}
