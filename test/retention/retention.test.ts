/**
 * Retention: which rows go when their time is over, and which stay: money, sums, rows without sums yet, running work. Steps are
 * bounded, one process runs at a time, and the ledger verifies.
 */
import { expect, it } from "vitest";
import { getRequest, listRequests } from "../../src/admin/index.ts";
import { newId } from "../../src/base/ids.ts";
import { createLedger } from "../../src/ledger/index.ts";
import { verifyLedger } from "../../src/verification/index.ts";
import { keepParts, retentionStep, type Retention } from "../../src/retention/index.ts";
import type { Database } from "../../src/storage/index.ts";
import { seesEverything } from "../../src/tenancy/index.ts";
import { foldUsage, readUsage } from "../../src/usage/index.ts";
import { describeDatabase } from "../support/postgres.ts";
import { seedCalls, seedId } from "../support/seed/calls.ts";

const dayMs = 86_400_000;
const keptDays = 30;
const retention: Retention = { requestLogDays: keptDays, isLogExported: false };
const today = Math.floor(Date.now() / dayMs) * dayMs;
const cutMs = today - keptDays * dayMs;

const size = { days: 60, keys: 12, models: 20, members: 6, providers: 4, workspaces: 3 };
const seed = (database: Database, requests: number): Promise<void> =>
  seedCalls(database, { ...size, requests, end: new Date(today) });

async function run(database: Database, what: Retention = retention): Promise<number[]> {
  const steps: number[] = [];
  for (let gone = -1; gone !== 0; steps.push(gone)) gone = await retentionStep(database, what);
  return steps;
}

const count = async (database: Database, where = "true"): Promise<number> =>
  (
    await database.query<{ n: number }>(
      `select count(*)::integer as n from requests where ${where}`,
      [],
    )
  )[0]!.n;

const usageOf = (database: Database, from: number, to: number): Promise<object[]> =>
  readUsage(database, {
    visibility: seesEverything,
    from: new Date(from),
    to: new Date(to),
    granularity: "day",
    groupBy: "model",
  });

const id = (kind: string, ms: number): string => newId(kind, ms);

describeDatabase("retention", (open) => {
  it("old rows of the log are deleted in bounded steps; sums, ledger and younger rows stay", async () => {
    const database = await open();
    await seed(database, 5_000);
    await foldUsage(database);
    const ledger = createLedger(database);
    const period = [today - 60 * dayMs, today] as const;
    const before = await usageOf(database, ...period);
    const younger = await count(database, `id >= 'req_' || id_time(to_timestamp(${cutMs / 1000}))`);
    const steps = await run(database);
    // Half of the rows go, in steps of at most two thousand, and a last step finds nothing.
    expect(Math.max(...steps)).toBe(2_000);
    expect(steps.length).toBeGreaterThan(2);
    expect(await count(database)).toBe(younger);
    expect(younger).toBeGreaterThan(2_000);
    expect(await usageOf(database, ...period)).toEqual(before);
    expect(await verifyLedger(database)).toEqual([]);
    const read = { database, ledger };
    await expect(getRequest(read, id("req", cutMs - dayMs), seesEverything)).rejects.toThrow(
      `The request log is kept from ${new Date(cutMs).toISOString()} on`,
    );
    await expect(getRequest(read, id("req", today), seesEverything)).rejects.toThrow(
      "No such request.",
    );
    // The sums cannot show a part of an hour any more, so the whole hour is shown.
    const at = cutMs - 5 * dayMs + 20 * 60_000;
    const part = await usageOf(database, at, at + 40 * 60_000);
    expect(part).toEqual(await usageOf(database, at - 20 * 60_000, at + 40 * 60_000));
    expect(JSON.stringify(part)).not.toContain('"model":null');
    await ledger.close();
  });

  it("stored bodies are deleted with the rows of their calls, even if their workspace keeps bodies for longer", async () => {
    const database = await open();
    await seed(database, 60);
    await foldUsage(database);
    await database.query("update workspaces set body_retention_days = 90");
    await database.query(
      `insert into request_bodies (workspace_id, id, sealed)
       select workspace_id, id, 'x' from requests where id < 'task_'`,
    );
    await run(database);
    const [left] = await database.query(
      `select count(*)::integer as bodies, count(r.id)::integer as rows from request_bodies b
       left join requests r on r.workspace_id = b.workspace_id and r.id = b.id`,
    );
    expect(left).toEqual({ bodies: expect.any(Number), rows: (left as { bodies: number }).bodies });
    expect((left as { bodies: number }).bodies).toBeGreaterThan(10);
  });

  it("an expired part is dropped as a whole by one of two processes, and the heads of its months follow", async () => {
    const database = await open();
    await seed(database, 600);
    await foldUsage(database);
    await database.query("update request_heads set month = '2020-01-01'");
    const [low, high] = [cutMs - 3 * dayMs, cutMs - 2 * dayMs];
    const name = "requests_req_20200101_20200102";
    await database.query(
      `create table ${name} (like requests including all);
       with moved as (delete from requests where id >= 'req_' || id_time(to_timestamp(${low / 1000}))
         and id < 'req_' || id_time(to_timestamp(${high / 1000})) returning *)
       insert into ${name} select * from moved;
       alter table requests detach partition requests_before`,
    );
    await database.query(
      `do $$ begin execute format('alter table requests attach partition ${name} for values from (%L) to (%L)',
         'req_' || id_time(to_timestamp(${low / 1000})), 'req_' || id_time(to_timestamp(${high / 1000}))); end $$`,
    );
    expect(await count(database)).toBe(10);
    const both = await Promise.all([1, 2].map(() => retentionStep(database, retention)));
    // The other step gives way to the running one, or continues after it with the heads.
    expect(both).toContain(1);
    expect(await count(database)).toBe(0);
    const [left] = await database.query<{ there: boolean }>(
      `select to_regclass('${name}') is not null as there`,
      [],
    );
    expect(left!.there).toBe(false);
    const [more] = await run(database);
    expect(both[0]! + both[1]! + more!).toBeGreaterThan(1);
    expect(await database.query("select id from request_heads")).toEqual([]);
    expect(await verifyLedger(database)).toEqual([]);
  });

  it("rows that are not folded yet, not exported yet or held are kept", async () => {
    const database = await open();
    await seed(database, 1_200);
    expect(await run(database)).toEqual([0]);
    await foldUsage(database);
    expect(await run(database, { ...retention, isLogExported: true })).toEqual([0]);
    const exportedTo = cutMs - 20 * dayMs;
    await database.query(
      "insert into exported_days (what, day, file, rows) select 'requests', ($1::timestamptz at time zone 'UTC')::date - n, 'f', 0 from generate_series(1, 40) n",
      [new Date(exportedTo)],
    );
    await run(database, { ...retention, isLogExported: true });
    const oldest = async (): Promise<string> =>
      (await database.query<{ id: string }>("select min(id) as id from requests", []))[0]!.id;
    const boundOf = (ms: number): string => id("req", ms).slice(0, 14);
    expect((await oldest()).slice(0, 14) >= boundOf(exportedTo)).toBe(true);
    expect((await oldest()).slice(0, 14) < boundOf(exportedTo + dayMs)).toBe(true);

    const hold = id("req", cutMs - 10 * dayMs);
    await database.query(
      `insert into ledger_holds (workspace_id, id, key_id, kind, amount_nano, lease_until, created_at)
       values ($1, $2, 'k', 'image', 0, now() + interval '1 day', now())`,
      [seedId.workspace(1), hold],
    );
    await run(database);
    expect((await oldest()).slice(0, 14) >= boundOf(cutMs - 10 * dayMs)).toBe(true);
    expect((await oldest()).slice(0, 14) < boundOf(cutMs - 9 * dayMs)).toBe(true);
    await database.query("delete from ledger_holds");
    await run(database);
    expect((await oldest()).slice(0, 14) >= boundOf(cutMs)).toBe(true);
    expect(await verifyLedger(database)).toEqual([]);
  });

  it("a row of a clock that is years off is not deleted early, and does not block other deletions", async () => {
    const database = await open();
    await seed(database, 300);
    const [past, future] = [id("req", 5), id("req", today + 900 * dayMs)];
    await database.query(
      "insert into requests (workspace_id, id, status) select $1, id, 'failed' from unnest($2::text[]) id",
      [seedId.workspace(1), [past, future]],
    );
    await foldUsage(database);
    await keepParts(database, { days: keptDays });
    await run(database);
    expect(await count(database, `id = '${past}'`)).toBe(0);
    expect(await count(database, `id = '${future}'`)).toBe(1);
    const { records } = await listRequests(database, { visibility: seesEverything, limit: 1 });
    expect(records).toMatchObject([{ id: future }]);
  });

  it("a step gives up if a reader of the whole log blocks it, and writes do not queue behind the step", async () => {
    const database = await open();
    await seed(database, 300);
    await foldUsage(database);
    const name = `requests_req_x_20200101_20200102`;
    await database.query(
      `alter table requests detach partition requests_before;
       create table ${name} partition of requests for values from ('req_0') to ('req_00000000zz')`,
    );
    await database.transaction(async (reader) => {
      await reader.query("select count(*) from requests");
      const began = performance.now();
      await expect(retentionStep(database, retention)).rejects.toThrow(/lock timeout/);
      await database.query("insert into requests (workspace_id, id) values ('w', $1)", [
        id("req", Date.now()),
      ]);
      // The reader ends only after this block, so a step that waited for it would wait for ever.
      expect(performance.now() - began).toBeLessThan(30_000);
    });
    expect(await retentionStep(database, retention)).toBe(1);
  });
});
