/** A server's position in the write-ahead log, and its identity, which tell a replica from a server that must not be read. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Queryable } from "../queryable.ts";

/** The state of a server at one moment. */
export interface ServerPosition {
  /** Equal only on a primary and its standbys: names the cluster, the database and the schema. */
  readonly identity: string;
  /** True if it follows another server and cannot be written. */
  readonly in_recovery: boolean;
  /** The end of the log that it has inserted, or replayed. */
  readonly lsn: bigint;
}

// The insert position, because rows of the request log are committed before they are written to disk and sent to standbys. The system
// identifier alone is not enough: a copy of the cluster and other databases have it too. Oids are equal on standbys only.
const standingSql = `
  select (select system_identifier from pg_control_system()) || '/'
      || (select oid from pg_database where datname = current_database()) || '/'
      || coalesce((select oid from pg_namespace where nspname = current_schema())::text, '') as identity,
    pg_is_in_recovery() as in_recovery,
    ((case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_insert_lsn() end) - '0/0'::pg_lsn)::bigint as lsn`;

const pageBytes = 8_192n;
/** The size of a page header: of a segment's first page, and of any other page. */
const headBytes: ReadonlySet<bigint> = new Set([40n, 24n]);

/**
 * Normalizes a position at a page end: the primary reports the end of the next page's header there, a replica the end of the page. No
 * record ends right behind a header.
 */
function endOf(lsn: bigint): bigint {
  const within = lsn % pageBytes;
  return headBytes.has(within) ? lsn - within : lsn;
}

/** Returns the state of a server. `lsn` is in bytes of its log, and equal on primary and replica for the same position. */
export async function readPosition(database: Queryable): Promise<ServerPosition> {
  const [standing] = await database.query<ServerPosition>(standingSql, [], { name: "standing" });
  const { lsn, ...rest } = standing!;
  return { ...rest, lsn: endOf(lsn) };
}

const pauseMsMax = 20;

/** Returns the state of a replica once it has replayed up to `lsn`, or after `waitMs` milliseconds. */
export async function positionAt(
  replica: Queryable,
  lsn: bigint,
  waitMs: number,
): Promise<ServerPosition> {
  const endMs = performance.now() + waitMs;
  for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, pauseMsMax)) {
    const standing = await readPosition(replica);
    const isOver = !standing.in_recovery || performance.now() + pauseMs > endMs;
    if (standing.lsn >= lsn || isOver) return standing;
    await sleep(pauseMs);
  }
}

/** Returns the reason that a server is no replica of the primary; undefined if it is one. */
export function replicaProblem(primary: ServerPosition, other: ServerPosition): string | undefined {
  if (other.identity !== primary.identity)
    return "it is no replica of DATABASE_URL: another cluster, database or schema";
  if (other.in_recovery) return undefined;
  return "it is not in recovery: it is the primary itself, or was promoted";
}

/** The reason if a replica is ahead of its primary: then it follows another server. */
export const aheadProblem = "it is ahead of DATABASE_URL: it follows another server";
