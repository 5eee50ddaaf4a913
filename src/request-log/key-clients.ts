/**
 * Records the addresses from which each key is used. A request costs one look-up in a map; every few seconds one statement writes the new
 * records, a row for each address. Like the request log they only explain, and no money depends on them: a failed write loses them.
 * Old addresses are deleted every hour, also without requests.
 */
import { camelCased, type SnakeCased } from "../base/casing.ts";
import { isErasedAddressSql } from "../base/erased.ts";
import type { Log } from "../base/log.ts";
import type { Database, Queryable } from "../storage/index.ts";

/** Addresses kept per key: the last used. */
const clientsMax = 100;
/** Days that an address is kept after its last use. */
const clientDays = 30;
const userAgentMax = 200;
/** The most waiting pairs of key and address; further pairs are not noted before these are written. */
const waitingMax = 10_000;
const everyMs = 5_000;
const sweepMs = 60 * 60_000;

/** The client data of a request. */
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
  /** Writes the waiting records, and ends. */
  close(): Promise<void>;
}

interface Waiting {
  readonly keyId: string;
  readonly address: string;
  userAgent: string | undefined;
  requests: number;
}

// Times are the database's at the write: a few seconds after the request. The owner of the key may have been erased by then, or during a
// call: no gateway writes rows about that person.
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

/** Removes the addresses beyond the bound from keys with new ones, the longest unused first. */
const trimSql = `
  delete from key_clients c using (
    select key_id, address, row_number() over (partition by key_id order by last_seen_at desc, address) as place
    from key_clients where key_id = any($1::text[])) as ranked
  where ranked.place > ${clientsMax} and c.key_id = ranked.key_id and c.address = ranked.address`;

const sweepSql = `delete from key_clients where last_seen_at < now() - interval '${clientDays} days'`;

const byPlace = (one: Waiting, other: Waiting): number =>
  one.keyId < other.keyId || (one.keyId === other.keyId && one.address < other.address) ? -1 : 1;

async function write(database: Database, noted: readonly Waiting[]): Promise<void> {
  // The same order everywhere: writers of the same rows then wait for each other without deadlocks.
  const rows = noted.toSorted(byPlace);
  const keys = await database.query<{ key_id: string }>(upsertSql, [
    rows.map(({ keyId }) => keyId),
    rows.map(({ address }) => address),
    rows.map(({ userAgent }) => (userAgent ?? "").slice(0, userAgentMax)),
    rows.map(({ requests }) => requests),
  ]);
  if (keys.length > 0) await database.query(trimSql, [keys.map(({ key_id }) => key_id)]);
}

/** Creates the recorder of key addresses over `database`. */
export function openKeyClients(database: Database, log: Pick<Log, "warn">): KeyClients {
  let waiting = new Map<string, Waiting>();
  let underWay: Promise<void> | undefined;
  let sweptMs: number | undefined;

  const isSweepDue = (): boolean => sweptMs === undefined || performance.now() - sweptMs >= sweepMs;
  async function sweep(): Promise<void> {
    sweptMs = performance.now();
    try {
      await database.query(sweepSql, []);
    } catch (error) {
      log.warn(
        { err: error },
        "old addresses of keys were not deleted; the next try is in an hour",
      );
    }
  }
  async function writeOut(): Promise<void> {
    const noted = [...waiting.values()];
    waiting = new Map();
    try {
      if (noted.length > 0) await write(database, noted);
    } catch (error) {
      log.warn({ err: error, clients: noted.length }, "where keys are used from was not written");
    }
    if (isSweepDue()) await sweep();
  }
  const flush = async (): Promise<void> => {
    await underWay;
    underWay ??= writeOut().finally(() => (underWay = undefined));
    await underWay;
  };
  const timer = setInterval(() => {
    if ((waiting.size > 0 || isSweepDue()) && underWay === undefined) void flush();
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

/** An address from which a key was used. */
export interface KeyClient {
  readonly address: string;
  readonly userAgent: string;
  readonly firstSeenAt: Date;
  readonly lastSeenAt: Date;
  readonly requests: bigint;
}

/** Returns the addresses from which a key was used in the last 30 days, the last used first. */
export async function listKeyClients(database: Queryable, keyId: string): Promise<KeyClient[]> {
  const rows = await database.query<SnakeCased<KeyClient>>(
    `select address, user_agent, first_seen_at, last_seen_at, requests from key_clients where key_id = $1 and last_seen_at >= now() - interval '${clientDays} days'
     order by last_seen_at desc, address limit ${clientsMax}`,
    [keyId],
  );
  return rows.map(camelCased);
}
