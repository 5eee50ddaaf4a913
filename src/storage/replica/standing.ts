/** How far a server is in the write-ahead log, and whose it is. By that a replica is told from what must not be read. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Queryable } from "../queryable.ts";

/** A server at one moment. */
export interface Standing {
  /** The same at a primary and its standbys alone: the cluster, the database and the schema. */
  readonly identity: string;
  /** It follows another server, and cannot be written. */
  readonly in_recovery: boolean;
  /** The end of what it has put into the log, or of what it has replayed. */
  readonly lsn: bigint;
}

// The end of what is inserted: rows of the request log are committed before they are written to the disk, and sent to standbys.
// A copy of the cluster has its system identifier, another database of it too. Oids are the same on a standby only.
const standingSql = `
  select (select system_identifier from pg_control_system()) || '/'
      || (select oid from pg_database where datname = current_database()) || '/'
      || coalesce((select oid from pg_namespace where nspname = current_schema())::text, '') as identity,
    pg_is_in_recovery() as in_recovery,
    ((case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_insert_lsn() end) - '0/0'::pg_lsn)::bigint as lsn`;

const pageBytes = 8_192n;
/** Of the first page of a segment, and of any other. */
const headBytes: ReadonlySet<bigint> = new Set([40n, 24n]);

/**
 * Where a page of the log is full, the primary tells the place behind the head of the next one, a replica the end of the page. No
 * record of its own ends behind a head.
 */
function endOf(lsn: bigint): bigint {
  const within = lsn % pageBytes;
  return headBytes.has(within) ? lsn - within : lsn;
}

/** Where a server stands; `lsn` in bytes of its log, the same for a place whether a primary or a replica tells it. */
export async function readStanding(database: Queryable): Promise<Standing> {
  const [standing] = await database.query<Standing>(standingSql, [], { name: "standing" });
  const { lsn, ...rest } = standing!;
  return { ...rest, lsn: endOf(lsn) };
}

const pauseMsMax = 20;

/** The standing of a replica once it has replayed so much, or after so many milliseconds. */
export async function standingAt(
  replica: Queryable,
  lsn: bigint,
  waitMs: number,
): Promise<Standing> {
  const endMs = performance.now() + waitMs;
  for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, pauseMsMax)) {
    const standing = await readStanding(replica);
    const isOver = !standing.in_recovery || performance.now() + pauseMs > endMs;
    if (standing.lsn >= lsn || isOver) return standing;
    await sleep(pauseMs);
  }
}

/** Why a server is no replica of the primary; undefined where it is one. */
export function misfit(primary: Standing, other: Standing): string | undefined {
  if (other.identity !== primary.identity)
    return "it is no replica of DATABASE_URL: another cluster, database or schema";
  if (other.in_recovery) return undefined;
  return "it is not in recovery: it is the primary itself, or was promoted";
}

/** Where a replica is beyond what its primary has written, it follows another server. */
export const isAhead = "it is ahead of DATABASE_URL: it follows another server";
