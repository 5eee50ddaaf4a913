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
    return uid === 0 ? undefined : { uid, gid };
  } catch {
    return undefined;
  }
}

/**
 * Who the server is to run as, given the directory of its data; undefined where it runs as this process's own user.
 * @param directory the database's directory; it may not exist yet
 */
export function serverIdentity(directory: string): Identity | undefined {
  if (process.getuid?.() !== 0) return undefined;
  return ownerOf(directory) ?? knownUser(["postgres", "nobody"]) ?? fallback;
}
