/**
 * Old entries do not slow calls. Admission, ends, holds and reads touch as many pages in a full database as in an empty one.
 * `verify` reads entry by entry and reports its progress. The long form has 10 million entries, 100,000 keys and 10,000
 * workspaces, and measures times. `npm test` has much less, and counts pages, which do not depend on the machine.
 */
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { createLedger } from "../../src/ledger/index.ts";
import { verifyLedger } from "../../src/verification/index.ts";
import { openDatabase, type Database } from "../../src/storage/index.ts";
import { shortOrLong, isLong } from "../support/long.ts";
import { sharedPostgres, temporaryDirectory } from "../support/postgres.ts";
import { spawnGateway, tollgate } from "../support/process.ts";

interface Size {
  readonly workspaces: number;
  readonly keys: number;
  readonly entries: number;
}

const full: Size = shortOrLong(
  { workspaces: 100, keys: 1_000, entries: 50_000 },
  { workspaces: 10_000, keys: 100_000, entries: 10_000_000 },
);
const small: Size = { workspaces: 1, keys: 10, entries: 10 };
/** As many keys as the calls in the full database use, with a single charge each. */
const unused: Size = { workspaces: 500, keys: 500, entries: 500 };
const creditNano = 1_000_000_000_000n;

/** Creates workspaces, keys with hard caps, and charges of one nano-dollar each, all on one past day. */
async function fill(url: string, { workspaces, keys, entries }: Size): Promise<void> {
  const [keysEach, entriesEach] = [keys / workspaces, entries / workspaces];
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(`
    set synchronous_commit = off;
    insert into workspaces (id, name) select 'w' || w, 'w' || w from generate_series(0, ${workspaces - 1}) w;
    insert into members (workspace_id, user_id, cap_total_nano, cap_hard)
      select 'w' || w, 'm', ${creditNano}, true from generate_series(0, ${workspaces - 1}) w;
    insert into api_keys (workspace_id, id, name, lookup, key_prefix, key_last4, created_by, cap_daily_nano, cap_total_nano, cap_hard)
      select 'w' || k % ${workspaces}, 'k' || k, 'k', convert_to('key' || k, 'utf8'), 'gw_', 'last', 'm', ${creditNano}, ${creditNano}, true
      from generate_series(0, ${keys - 1}) k;
    insert into ledger_entries (workspace_id, reference, kind, amount_nano, held_nano, balance_after_nano, created_at)
      select 'w' || w, 'start', 'credit', ${creditNano}, 0, ${creditNano}, '2026-01-01' from generate_series(0, ${workspaces - 1}) w;
    insert into ledger_entries (workspace_id, reference, kind, amount_nano, held_nano, balance_after_nano, key_id, member_id, created_at)
      select 'w' || e % ${workspaces}, 'call' || e, 'charge', 1, 1, ${creditNano} - 1 - e / ${workspaces},
        'k' || (e % ${workspaces} + ${workspaces} * (e / ${workspaces} % ${keysEach})), 'm', '2026-01-05 12:00Z'
      from generate_series(0, ${entries - 1}) e;
    update ledger_accounts set credits_nano = ${creditNano}, charged_nano = ${entriesEach}, month_nano = ${entriesEach},
      week_nano = ${entriesEach}, day_nano = ${entriesEach}, last_day = '2026-01-05';
    insert into ledger_spend (workspace_id, scope, scope_id, total_nano, month_nano, week_nano, day_nano, last_day)
      select workspace_id, x.scope, x.id, count(*), count(*), count(*), count(*), '2026-01-05'
      from ledger_entries e cross join lateral (values ('key', e.key_id), ('member', e.member_id)) x (scope, id)
      where kind = 'charge' group by 1, 2, 3;`);
  await client.query("vacuum analyze");
  await client.end();
}

/** Adds many more rows: in workspace w0, for its key k0, and elsewhere. Holds of another kind are not counted in the queue. */
const grow = `
  alter table ledger_holds drop constraint ledger_holds_kind;
  insert into workspaces (id, name) select 'x' || w, 'x' from generate_series(1, 2000) w;
  insert into ledger_entries (workspace_id, reference, kind, amount_nano, held_nano, balance_after_nano, key_id, member_id, created_at)
    select 'w0', 'more' || e, 'charge', 0, 0, 0, 'k0', 'm', '2026-01-06' from generate_series(1, 20000) e;
  insert into ledger_allowances (workspace_id, key_id, rotation, gateway, member_id, amount_nano, idle_nano)
    select w, 'y' || k, 0, 'g' || k, null, 0, 0 from unnest('{w0,x1}'::text[]) w, generate_series(1, 5000) k;
  insert into ledger_holds (workspace_id, id, key_id, member_id, kind, amount_nano, lease_until, created_at)
    select 'x1', 'h' || h, 'y', null, 'text', 0, '2999-01-01', '2026-01-06' from generate_series(1, 5000) h;
  insert into ledger_spend (workspace_id, scope, scope_id, total_nano, month_nano, week_nano, day_nano, last_day)
    select w, 'key', 'y' || k, 0, 0, 0, 0, '2026-01-06' from unnest('{w0,x1}'::text[]) w, generate_series(1, 5000) k;
  insert into ledger_lanes (gateway, lane, number, lease_until, lapsed)
    select 'g' || l, 0, 1, '2999-01-01', false from generate_series(1, 5000) l;`;

/** The ledger's statements, run one by one and rolled back. */
const statements: Record<string, string> = {
  "a batch that asks for calls": `select * from ledger_batch('g', 1, 1, 60000, true, false, '{w0}', '{k0}', '{0}', '{5}', '{0}', '{0}', '{5}', '{}', '{}', '{}', '{}')`,
  "a batch that writes entries": `select * from ledger_batch('g', 1, 2, 60000, true, false, '{w0}', '{k0}', '{0}', '{0}', '{0}', '{0}', '{0}', '{1}', '{new}', '{3}', '{5}')`,
  "a hold": `select * from ledger_hold('w0', 'task', 'k0', 0, 'task', 5, 60000, 1000, 1000)`,
  "the end of a hold": `select * from ledger_settle('w0', 'task', 3)`,
  "a credit": `select * from ledger_credit('w0', 5, 'more', null)`,
  "a look for holds past their lease": `select ledger_expire_holds(500)`,
  "the end of a gateway": `select ledger_expire('g')`,
};

interface Plan {
  readonly "Shared Hit Blocks": number;
  readonly "Shared Read Blocks": number;
}

/** Pages that each statement touches, on a connection that has planned it. */
async function pagesIn(client: Client): Promise<Record<string, number>> {
  const pages: Record<string, number> = {};
  await client.query("begin");
  for (const [name, sql] of Object.entries(statements)) {
    const { rows } = await client.query<{ "QUERY PLAN": { Plan: Plan }[] }>(
      `explain (analyze, buffers, format json) ${sql}`,
    );
    const plan = rows[0]!["QUERY PLAN"][0]!.Plan;
    pages[name] = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"];
  }
  await client.query("rollback");
  return pages;
}

/** Runs `work` on a connection that has already planned the statements. */
async function planned<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await pagesIn(client);
    return await work(client);
  } finally {
    await client.end();
  }
}

/** No statement of `grown` touches many more pages. An index of ten million rows is two pages deeper, and some read it repeatedly. */
function expectSimilar(grown: Record<string, number>, small: Record<string, number>): void {
  const most = Object.entries(small).map(([name, pages]) => [name, pages * 1.5 + 30] as const);
  expect(most.filter(([name, pages]) => grown[name]! > pages)).toEqual([]);
}

const calls = 500;

/** 500 keys, each in a different workspace, spread over the database. */
const keysFor = ({ keys }: Size) => Array.from({ length: calls }, (_, at) => (at * 7_919) % keys);

/** Milliseconds for one call per key, in sequence, on a new ledger that knows none of the keys. */
async function callsMs(database: Database, { workspaces }: Size, keys: number[]): Promise<number> {
  const ledger = createLedger(database);
  const from = performance.now();
  for (const [call, key] of keys.entries()) {
    const [workspaceId, id] = [`w${key % workspaces}`, `r${from}-${call}`];
    const input = { id, workspaceId, keyId: `k${key}`, keyRotation: 0, amountNano: 5n };
    const charged = await ledger.spend(input, () => Promise.resolve({ amountNano: 3n }));
    expect(charged).toEqual({ amountNano: 3n });
  }
  const ms = performance.now() - from;
  await ledger.close();
  return ms;
}

/** Per round, how many times longer the same calls take on the full database. The first round warms up and is left out. */
async function fullToEmpty([grown, empty]: Database[], pick: (keys: number[]) => number[]) {
  const ratios: number[] = [];
  for (let round = 0; round < 11; round += 1) {
    const ofFull = await callsMs(grown!, full, pick(keysFor(full)));
    const ofEmpty = await callsMs(empty!, unused, pick(keysFor(unused)));
    if (round > 0) ratios.push(ofFull / ofEmpty);
  }
  return ratios;
}

const median = (numbers: number[]) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!;

describe("a ledger with a long history", () => {
  let fullUrl: string;
  let smallUrl: string;
  let opened: Database[];
  beforeAll(
    async () => {
      const postgres = await sharedPostgres();
      [fullUrl, smallUrl] = [await postgres.createMigrated(), await postgres.createMigrated()];
      const unusedUrl = await postgres.createMigrated();
      await fill(fullUrl, full);
      await fill(smallUrl, small);
      await fill(unusedUrl, unused);
      opened = [];
      for (const url of [fullUrl, smallUrl, unusedUrl])
        opened.push(await openDatabase({ url, log: silentLog }));
    },
    shortOrLong(60_000, 3_600_000),
  );
  afterAll(async () => {
    for (const database of opened) await database.close();
  });

  it("T63: finds what a call needs by index, with hardly more pages than an empty database", async () => {
    const [inFull, inSmall] = [await planned(fullUrl, pagesIn), await planned(smallUrl, pagesIn)];
    if (isLong) console.log({ inFull, inSmall }); // oxlint-disable-line no-console -- the figures
    expectSimilar(inFull, inSmall);
  });

  it("T63: reads hardly more pages for a member of thousands of workspaces", async () => {
    const url = await (await sharedPostgres()).createMigrated();
    await fill(url, small);
    const other = new Client({ connectionString: url });
    await other.connect();
    // Most users are in one workspace, so that the planner expects one row per user.
    await other.query(`
      insert into workspaces (id, name) select 'x' || w, 'x' from generate_series(1, 5000) w;
      insert into members (workspace_id, user_id)
        select case when n % 7 = 0 then 'x' || n / 7 else 'w0' end, case when n % 7 = 0 then 'm' else 'u' || n end
        from generate_series(1, 35000) n;
      analyze`);
    await other.end();
    expectSimilar(await planned(url, pagesIn), await planned(smallUrl, pagesIn));
  });

  it("T63: scans no whole tables with plans that were made while the tables were empty", async () => {
    const url = await (await sharedPostgres()).createMigrated();
    const other = new Client({ connectionString: url });
    await other.connect();
    // Switch off autovacuum: new statistics would cause a new plan.
    const tables = ["accounts", "entries", "allowances", "holds", "spend", "lanes"];
    for (const table of tables)
      await other.query(`alter table ledger_${table} set (autovacuum_enabled = off)`);
    await fill(url, small);
    await planned(url, async (client) => {
      const before = await pagesIn(client);
      await other.query(grow);
      // Only the sweeper runs these two, rarely; they may read everything that is open.
      delete before["a look for holds past their lease"];
      delete before["the end of a gateway"];
      expectSimilar(await pagesIn(client), before);
    });
    await other.end();
  });

  it(
    "T63: is added up by verify, which reports its progress",
    { timeout: shortOrLong(60_000, 3_600_000) },
    async () => {
      const progress: number[] = [];
      expect(await verifyLedger(opened[0]!, (done) => progress.push(done))).toEqual([]);
      expect(progress.length).toBeGreaterThan(1);
      expect(progress).toEqual(progress.toSorted((a, b) => a - b));
      expect(progress.at(-1)).toBeGreaterThanOrEqual(full.entries);
      if (!isLong) return;
      // The process's heap can hold only a small part of the data.
      const environment = { DATABASE_URL: fullUrl, NODE_OPTIONS: "--max-old-space-size=96" };
      const { code, stdout } = await tollgate(["verify"], environment);
      expect({ code, stdout }).toEqual({ code: 0, stdout: "no difference\n" });
    },
  );

  it.runIf(isLong).each([
    { of: "as many keys", pick: (keys: number[]) => keys },
    { of: "one key", pick: (keys: number[]) => keys.fill(keys[1]!) },
  ])(
    "takes calls of $of at most a tenth longer than an empty database",
    { timeout: 600_000 },
    async ({ of, pick }) => {
      const ratios = await fullToEmpty([opened[0]!, opened[2]!], pick);
      console.log(of, "full to empty", ratios); // oxlint-disable-line no-console -- the figures
      expect(median(ratios)).toBeLessThan(1.1);
    },
  );

  it.runIf(isLong)("has a gateway ready within two seconds", { timeout: 60_000 }, async () => {
    const gateway = await spawnGateway({
      DATABASE_URL: fullUrl,
      TOLLGATE_DATA_DIR: temporaryDirectory(),
      TOLLGATE_SANDBOX: "on",
      TOLLGATE_LOG_LEVEL: "silent",
    });
    await gateway.kill();
    expect(gateway.readyMs).toBeLessThan(2_000);
  });
});
