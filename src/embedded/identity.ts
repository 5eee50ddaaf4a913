/**
 * The user that the embedded PostgreSQL runs as. PostgreSQL refuses to run as root: under root the server runs as the owner
 * of the data it finds, else as `postgres` or `nobody`.
 */
import { readFileSync, statSync } from "node:fs";

export interface Identity {
  readonly uid: number;
  readonly gid: number;
}

/** `nobody` on every Linux. */
const fallback: Identity = { uid: 65_534, gid: 65_534 };

/** The first of these users that `/etc/passwd` knows. */
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
    // A `chown` without a group leaves root's, which opens more than this data.
    return uid === 0 ? undefined : { uid, gid: gid === 0 ? fallback.gid : gid };
  } catch {
    return undefined;
  }
}

/**
 * Who the server is to run as; undefined where it runs as this process's own user.
 * @param places its data first: under root the owner of the first one that is not root's. They may not exist yet
 */
export function serverIdentity(...places: readonly string[]): Identity | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const owners = places.map(ownerOf).filter((owner) => owner !== undefined);
  return owners[0] ?? knownUser(["postgres", "nobody"]) ?? fallback;
}
