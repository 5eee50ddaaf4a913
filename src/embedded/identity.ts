/**
 * The user that the embedded PostgreSQL runs as. PostgreSQL refuses to run as root. Under root, the server runs as the owner of the
 * data it finds, or else as `postgres` or `nobody`.
 */
import { readFileSync, statSync } from "node:fs";

export interface Identity {
  readonly uid: number;
  readonly gid: number;
}

/** `nobody` on every Linux. */
const fallback: Identity = { uid: 65_534, gid: 65_534 };

/** Returns the first of these users that is in `/etc/passwd`. */
function knownUser(names: readonly string[]): Identity | undefined {
  let lines: string[];
  try {
    lines = readFileSync("/etc/passwd", "utf8").split("\n");
  } catch {
    return undefined;
  }
  for (const name of names) {
    const fields = lines.find((line) => line.startsWith(`${name}:`))?.split(":");
    if (fields !== undefined) return { uid: Number(fields[2]), gid: Number(fields[3]) };
  }
  return undefined;
}

function ownerOf(path: string): Identity | undefined {
  try {
    const { uid, gid } = statSync(path);
    // A `chown` without a group keeps root's group, which has access to more than this data.
    return uid === 0 ? undefined : { uid, gid: gid === 0 ? fallback.gid : gid };
  } catch {
    return undefined;
  }
}

/**
 * Returns the user that the server must run as; undefined if that is this process's own user.
 * @param places checked in order, the server's data first: under root, the first owner other than root counts. They may not exist yet
 */
export function serverIdentity(...places: readonly string[]): Identity | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const owners = places.map(ownerOf).filter((owner) => owner !== undefined);
  return owners[0] ?? knownUser(["postgres", "nobody"]) ?? fallback;
}
