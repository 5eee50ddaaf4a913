/**
 * Where each key is used from. A request is one look into a map; every few seconds what was seen goes out in one statement, a
 * row for each address. Like the request log it explains, and money does not depend on it: what cannot be written is lost.
 */
import { camelCased, type SnakeCased } from "../base/casing.ts";
import { isErasedAddressSql } from "../base/erased.ts";
import type { Log } from "../base/log.ts";
import type { Database, Queryable } from "../storage/index.ts";

/** Addresses that are kept of a key: those used last. */
const clientsMax = 100;
/** For how long an address is kept after it was seen. */
const clientDays = 30;
const userAgentMax = 200;
/** Pairs of key and address that wait at most; more are not noted before these are written. */
const waitingMax = 10_000;
const everyMs = 5_000;
const sweepMs = 60 * 60_000;

/** What a request tells of its caller's program. */
export interface SeenClient {
  readonly keyId: string;
  readonly address: string;
  readonly userAgent: string | undefined;
}

export interface KeyClients {
  /** Notes a request; never waits and never throws. */
  note(seen: SeenClient): void;
  /** Resolves when everything noted so far is written or given up. */
  flush(): Promise<void>;
  /** Writes what waits, and ends. */
  close(): Promise<void>;
}

interface Waiting {
  readonly keyId: string;
  readonly address: string;
  userAgent: string | undefined;
  requests: number;
}

// Times are the database's, and those of the writing: a few seconds after the request. Whose key it is may have been erased by then, or
// while a call was under way: nothing is written of them, by no gateway.
const upsertSql = `
  with quick as (select set_config('synchronous_commit', 'off', true)),
  seen as (select * from quick, unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) as s (key_id, address, user_agent, requests)
    where not exists (select from api_keys k join users u on u.id = k.created_by
      where k.id = s.key_id and ${isErasedAddressSql("u.email")})),
  written as (
    insert into key_clients as c (key_id, address, user_agent, first_seen_at, last_seen_at, requests)
    select key_id, address, user_agent, now(), now(), requests from seen
    on conflict (key_id, address) do update set user_agent = excluded.user_agent, last_seen_at = excluded.last_seen_at,
      requests = c.requests + excluded.requests
    returning key_id, xmax = 0 as is_new)
  select distinct key_id from written where is_new`;

/** Of keys that got addresses: those beyond the bound, used the longest ago. */
const trimSql = `
  delete from key_clients c using (
    select key_id, address, row_number() over (partition by key_id order by last_seen_at desc, address) as place
    from key_clients where key_id = any($1::text[])) as ranked
  where ranked.place > ${clientsMax} and c.key_id = ranked.key_id and c.address = ranked.address`;

const sweepSql = `delete from key_clients where last_seen_at < now() - interval '${clientDays} days'`;

const byPlace = (one: Waiting, other: Waiting): number =>
  one.keyId < other.keyId || (one.keyId === other.keyId && one.address < other.address) ? -1 : 1;

async function write(database: Database, noted: readonly Waiting[]): Promise<void> {
  // In one order everywhere: writers of the same rows wait for each other, and never in a ring.
  const rows = noted.toSorted(byPlace);
  const keys = await database.query<{ key_id: string }>(upsertSql, [
    rows.map(({ keyId }) => keyId),
    rows.map(({ address }) => address),
    rows.map(({ userAgent }) => (userAgent ?? "").slice(0, userAgentMax)),
    rows.map(({ requests }) => requests),
  ]);
  if (keys.length > 0) await database.query(trimSql, [keys.map(({ key_id }) => key_id)]);
}

/** Notes where keys are used from, over `database`. */
export function openKeyClients(database: Database, log: Pick<Log, "warn">): KeyClients {
  let waiting = new Map<string, Waiting>();
  let underWay: Promise<void> | undefined;
  let sweptMs: number | undefined;

  async function writeOut(): Promise<void> {
    const noted = [...waiting.values()];
    waiting = new Map();
    try {
      if (noted.length > 0) await write(database, noted);
      if (sweptMs !== undefined && performance.now() - sweptMs < sweepMs) return;
      sweptMs = performance.now();
      await database.query(sweepSql, []);
    } catch (error) {
      log.warn({ err: error, clients: noted.length }, "where keys are used from was not written");
    }
  }
  const flush = async (): Promise<void> => {
    await underWay;
    underWay ??= writeOut().finally(() => (underWay = undefined));
    await underWay;
  };
  const timer = setInterval(() => {
    if (waiting.size > 0 && underWay === undefined) void flush();
  }, everyMs);
  timer.unref();
  return {
    note({ keyId, address, userAgent }) {
      if (address === "") return;
      const name = `${keyId} ${address}`;
      const known = waiting.get(name);
      if (known !== undefined) {
        known.requests += 1;
        known.userAgent = userAgent;
      } else if (waiting.size < waitingMax) {
        waiting.set(name, { keyId, address, userAgent, requests: 1 });
      }
    },
    flush,
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}

/** An address that a key was used from. */
export interface KeyClient {
  readonly address: string;
  readonly userAgent: string;
  readonly firstSeenAt: Date;
  readonly lastSeenAt: Date;
  readonly requests: bigint;
}

/** Where a key was used from within 30 days, the last one first. */
export async function listKeyClients(database: Queryable, keyId: string): Promise<KeyClient[]> {
  const rows = await database.query<SnakeCased<KeyClient>>(
    `select address, user_agent, first_seen_at, last_seen_at, requests from key_clients where key_id = $1 and last_seen_at >= now() - interval '${clientDays} days'
     order by last_seen_at desc, address limit ${clientsMax}`,
    [keyId],
  );
  return rows.map(camelCased);
}
