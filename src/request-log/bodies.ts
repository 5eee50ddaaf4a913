/**
 * Stored bodies of calls: written in batches after the answers, read one at a time, deleted when their time is over. They only explain
 * calls; no money depends on them. So bodies that cannot be written are counted and logged, and cause no error. docs/management.md.
 */
import { isErasedTokenSql } from "../base/erased.ts";
import { idTime } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { createWriteBehind, type Room, type WriteBehind } from "../base/write-behind.ts";
import type { Database, Queryable } from "../storage/index.ts";
import { bodySealName, sealText, unsealText, type Sealing } from "../tenancy/index.ts";

/** The most bytes of UTF-8 that are stored of one text. */
export const keptTextMax = 256 * 1024;

/** The stored texts of a call; null if there was none. */
export interface Bodies {
  /** The caller's request. */
  readonly request: string | null;
  /** The request to the last provider. */
  readonly sent: string | null;
  /** The answer to the caller; for a stream its events. */
  readonly answer: string | null;
  /** The names of the texts that are cut. */
  readonly truncated: readonly string[];
}

interface BodyName {
  readonly workspaceId: string;
  readonly id: string;
}

const batchMax = 50;
const gatherMsDefault = 200;

/** The bodies of one call, to be stored. */
interface KeptBodies {
  readonly name: BodyName;
  readonly bodies: Bodies;
}

interface BodyLogParts {
  readonly database: Database;
  readonly sealing: Sealing;
  readonly log: Log;
  /** Room for the waiting bodies, in characters. */
  readonly room: Room;
  /** Milliseconds that bodies wait for others; 200 if absent. */
  readonly gatherMs?: number | undefined;
}

/**
 * Skips calls whose end user a gateway erased meanwhile: their rows have a token instead of the id (retention/end-user.ts), so no later
 * erasure would find the bodies. Looks rows up one by one by their key, so that each look-up reads one part of the log.
 */
const insertSql = `
  insert into request_bodies (workspace_id, id, sealed)
  select b.* from unnest($1::text[], $2::text[], $3::bytea[]) as b (workspace_id, id, sealed)
  where not exists (select from requests r where r.workspace_id = b.workspace_id and r.id = b.id
    and ${isErasedTokenSql("r.end_user")} offset 0)
  on conflict do nothing`;

/** Creates a writer over `database`; call `flush` before you close that. */
export function createBodyLog(parts: BodyLogParts): WriteBehind<KeptBodies> {
  const { database, sealing, log, room, gatherMs = gatherMsDefault } = parts;
  async function write(batch: readonly KeptBodies[]): Promise<void> {
    try {
      const sealed = await Promise.all(
        batch.map(({ name, bodies }) =>
          sealText(sealing, bodySealName(name), JSON.stringify(bodies)),
        ),
      );
      await database.query(insertSql, [
        batch.map(({ name }) => name.workspaceId),
        batch.map(({ name }) => name.id),
        sealed,
      ]);
    } catch (error) {
      log.error({ err: error, bodies: batch.length }, "kept bodies could not be written");
    }
  }
  return createWriteBehind({
    write,
    batchMax,
    gatherMs,
    room,
    sizeOf: ({ bodies: { request, sent, answer } }) =>
      (request?.length ?? 0) + (sent?.length ?? 0) + (answer?.length ?? 0),
    dropped: (bodies) => log.warn({ bodies }, "bodies were not kept: too many were waiting"),
  });
}

const dayMs = 24 * 3_600_000;
const idOf = (ms: number): string => `req_${idTime(ms)}`;

/** Returns the bodies of a call and the end of their time; undefined if none are stored. @throws where they were altered */
export async function readBodies(
  database: Queryable,
  sealing: Sealing,
  name: BodyName,
): Promise<(Bodies & { readonly keptUntil: Date }) | undefined> {
  const [row] = await database.query<{ sealed: Buffer; created_at: Date; days: number }>(
    `select b.sealed, x.created_at, w.body_retention_days as days from request_bodies b
     join requests x on x.workspace_id = b.workspace_id and x.id = b.id join workspaces w on w.id = b.workspace_id
     where b.workspace_id = $1 and b.id = $2 and x.created_at + w.body_retention_days * interval '24 hours' > now()`,
    [name.workspaceId, name.id],
  );
  if (row === undefined) return undefined;
  const keptUntil = new Date(row.created_at.getTime() + row.days * dayMs);
  const text = await unsealText(sealing, bodySealName(name), row.sealed);
  return { ...(JSON.parse(text) as Bodies), keptUntil };
}

const sweepMax = 500;
const daysMax = 90;

/**
 * Deletes bodies that at `nowMs` are older than their workspace keeps them, by the primary key: ids sort by time. @returns how many, at
 * most 500: call again if it is 500
 */
export async function sweepBodies(database: Queryable, nowMs: number): Promise<number> {
  const bounds = Array.from({ length: daysMax }, (_, days) => idOf(nowMs - (days + 1) * dayMs));
  const gone = await database.query(
    `delete from request_bodies b using (
       select x.workspace_id, x.id from workspaces w cross join lateral (
         select k.workspace_id, k.id from request_bodies k
         where k.workspace_id = w.id and k.id < ($1::text[])[w.body_retention_days] order by k.id limit $2
       ) x limit $2
     ) old where b.workspace_id = old.workspace_id and b.id = old.id returning 1`,
    [bounds, sweepMax],
  );
  return gone.length;
}
