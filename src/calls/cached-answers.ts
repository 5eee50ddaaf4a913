/**
 * Cached answers, found by a digest of the request, written behind the calls, and deleted when they expire. A call never depends on
 * them: after a failed read the provider is asked, and an answer that cannot be written is not cached. docs/cache.md.
 */
import { isErasedTokenSql } from "../base/erased.ts";
import type { Log } from "../base/log.ts";
import { createWriteBehind, type Room } from "../base/write-behind.ts";
import type { Database, Queryable } from "../storage/index.ts";
import {
  answerSealName,
  sealText,
  unsealText,
  type AnswerName,
  type Sealing,
} from "../tenancy/index.ts";
import type { CacheOutcome } from "./record.ts";

export interface AnswerCache {
  /** The cached text if it is no older than the limit; undefined if there is none, or it cannot be read. Never rejects. */
  find(name: AnswerName, ageSecondsMax: number): Promise<string | undefined>;
  /** Caches the text of a call's answer for this many seconds; never waits and never throws. */
  put(name: AnswerName, answer: CallAnswer): void;
  /** Resolves when every queued text is written or given up. */
  flush(): Promise<void>;
}

interface CallAnswer {
  readonly callId: string;
  readonly text: string;
  readonly seconds: number;
}

/** The services that response caches of keys need from the running gateway. */
export interface CacheServices {
  readonly answers: AnswerCache;
  /** Called for each call of a key that has a cache. */
  onLookup(outcome: CacheOutcome): void;
}

/** The longest answer that is cached, in bytes. */
export const cachedBytesMax = 1024 * 1024;
/** The most that one workspace may cache. When it is full, nothing new is cached until something expires. */
const cacheBounds = { answers: 10_000, bytes: 256 * 1024 * 1024 } as const;

interface Waiting extends CallAnswer {
  readonly name: AnswerName;
}

/** Creates a cache in `database`; call `flush` before closing it. `room` limits the characters that wait to be written. */
export function createAnswerCache(
  database: Database,
  sealing: Sealing,
  log: Log,
  room: Room,
): AnswerCache {
  const queue = createWriteBehind<Waiting>({
    async write([next]) {
      try {
        await write(database, sealing, next!);
      } catch (error) {
        log.warn({ err: error }, "an answer could not be kept for the cache");
      }
    },
    batchMax: 1,
    gatherMs: 0,
    room,
    sizeOf: ({ text }) => text.length,
    dropped: (answers) => log.warn({ answers }, "answers were not kept: too many were waiting"),
  });
  return {
    async find(name, ageSecondsMax) {
      try {
        return await read(database, sealing, name, ageSecondsMax);
      } catch (error) {
        log.warn({ err: error }, "a kept answer could not be read; the call is asked anew");
        return undefined;
      }
    },
    put(name, answer) {
      queue.add({ name, ...answer });
    },
    flush: () => queue.flush(),
  };
}

async function read(
  database: Queryable,
  sealing: Sealing,
  name: AnswerName,
  ageSecondsMax: number,
): Promise<string | undefined> {
  const [row] = await database.query<{ sealed: Buffer }>(
    `select sealed from cached_answers where workspace_id = $1 and digest = $2
       and expires_at > now() and created_at > now() - make_interval(secs => $3::float8)`,
    [name.workspaceId, name.digest, ageSecondsMax],
    { name: "cached_answer" },
  );
  if (row === undefined) return undefined;
  return unsealText(sealing, answerSealName(name), row.sealed);
}

/** Skips the answer of a call whose end user was erased meanwhile: the cache was emptied then, and would hold it again. */
async function write(
  database: Queryable,
  sealing: Sealing,
  { name, callId, text, seconds }: Waiting,
): Promise<void> {
  const { workspaceId, digest } = name;
  const sealed = await sealText(sealing, answerSealName(name), text);
  const { answers, bytes } = cacheBounds;
  await database.query(
    `insert into cached_answers (workspace_id, digest, expires_at, bytes, sealed)
     select $1::text, $2::text, now() + make_interval(secs => $3::float8), $4::integer, $5::bytea
     from (select count(*) as answers, coalesce(sum(k.bytes), 0) as bytes from cached_answers k
           where k.workspace_id = $1 and k.digest <> $2) kept
     where kept.answers < $6::bigint and kept.bytes + $4 <= $7::bigint
       and not exists (select from requests r where r.workspace_id = $1 and r.id = $8 and ${isErasedTokenSql("r.end_user")})
     on conflict (workspace_id, digest) do update
       set created_at = now(), expires_at = excluded.expires_at, bytes = excluded.bytes, sealed = excluded.sealed`,
    [workspaceId, digest, seconds, sealed.length, sealed, answers, bytes, callId],
    { name: "cache_answer" },
  );
}

const sweepMax = 500;

/** Lists each workspace that has answers, in one index step per workspace. */
const keepingSql = `with recursive keeping as (
  (select workspace_id from cached_answers order by workspace_id limit 1)
  union all
  select (select c.workspace_id from cached_answers c where c.workspace_id > k.workspace_id order by c.workspace_id limit 1)
  from keeping k where k.workspace_id is not null)`;

/**
 * Deletes expired answers, and those of workspaces where no key has a cache any more. Deletes at most 500: call it again if it
 * deleted that many.
 * @returns how many it deleted
 */
export async function sweepAnswers(database: Queryable): Promise<number> {
  const gone = await database.query(
    `${keepingSql}, given_up as (
       select k.workspace_id from keeping k where k.workspace_id is not null and not exists (
         select from api_keys a where a.workspace_id = k.workspace_id and a.response_cache is not null and a.status <> 'revoked')),
     old as (
       (select workspace_id, digest from cached_answers where expires_at <= now() order by expires_at limit $1)
       union
       (select workspace_id, digest from cached_answers where workspace_id in (select workspace_id from given_up) limit $1)
       limit $1),
     free as (
       select c.workspace_id, c.digest from cached_answers c join old using (workspace_id, digest) for update of c skip locked)
     delete from cached_answers k using free
     where k.workspace_id = free.workspace_id and k.digest = free.digest returning 1`,
    [sweepMax],
  );
  return gone.length;
}
