/**
 * A log of 90 days in 90 parts. The plans for the last day's list, usage and single calls contain only the parts of their time,
 * and each step of retention is short. The short form checks plans, the long form measures times over 50 million rows.
 */
import { beforeAll, expect, it } from "vitest";
import { listRequestHeadlines, listRequests } from "../../src/admin/index.ts";
import { idTime } from "../../src/base/ids.ts";
import { differencesIn } from "../../src/verification/index.ts";
import { retentionStep } from "../../src/retention/index.ts";
import type { Database, Queryable } from "../../src/storage/index.ts";
import { seesEverything, type Visibility } from "../../src/tenancy/index.ts";
import { foldUsage, readUsage } from "../../src/usage/index.ts";
import { shortOrLong, isLong } from "../support/long.ts";
import { describeDatabase } from "../support/postgres.ts";
import { planOf, type PlanNode } from "../support/query-plan.ts";
import { largeSeed, seedCalls, seedId } from "../support/seed/calls.ts";
import { seedLog, seedParts } from "../support/seed/log.ts";

const dayMs = 86_400_000;
/** A smaller machine can use fewer days of the same size: 5,000,000 rows over 9 days have parts as large as 50,000,000 over 90. */
const days = Number(process.env["TOLLGATE_LOG_DAYS"] ?? 90);
const keptDays = Math.floor(days / 3);
const rows = Number(process.env["TOLLGATE_LOG_ROWS"] ?? shortOrLong(18_000, 50_000_000));
const today = Math.floor(Date.now() / dayMs) * dayMs;
const limitMs = 300;

const partOf = (ms: number): string => {
  const name = (at: number): string => new Date(at).toISOString().slice(0, 10).replaceAll("-", "");
  return `requests_req_${name(ms)}_${name(ms + dayMs)}`;
};

/** A database that records its statements, and their plans. */
function watched(database: Database): {
  readonly database: Database;
  readonly plans: () => Promise<PlanNode[]>;
} {
  const asked: (readonly [string, readonly unknown[] | undefined])[] = [];
  const spy = (on: Queryable): Queryable => ({
    query(sql, params, options) {
      if (/\brequests\b|\brequest_log\b/.test(sql)) asked.push([sql, params]);
      return on.query(sql, params, options);
    },
  });
  return {
    database: {
      ...database,
      ...spy(database),
      transaction: (work, options) => database.transaction((tx) => work(spy(tx)), options),
    },
    async plans() {
      const nodes: PlanNode[] = [];
      for (const [sql, params] of asked) nodes.push(...(await planOf(database, sql, params)));
      return nodes.filter((node) => node["Relation Name"]?.startsWith("requests"));
    },
  };
}

/** The parts by day in the plans of the queries of `work`. Expects that none is scanned sequentially. */
async function partsIn(
  on: Database,
  work: (database: Database) => Promise<unknown>,
): Promise<string[]> {
  const { database, plans } = watched(on);
  await work(database);
  const nodes = await plans();
  // The plan may scan an empty part sequentially, and in the short form a small one.
  const rowsMax = shortOrLong(rows / days, 1);
  const scans = nodes.filter((node) => node["Node Type"] === "Seq Scan");
  expect(scans.filter((node) => node["Plan Rows"] > rowsMax)).toEqual([]);
  const names = nodes.map((node) => node["Relation Name"]!);
  return [...new Set(names)].filter((name) => name.startsWith("requests_req_")).toSorted();
}

const lastDay = { from: new Date(today - dayMs), to: new Date(today) };
const admin: Visibility = {
  ...seesEverything,
  everything: false,
  workspaceIds: [seedId.workspace(1)],
};

const usage = (database: Database, groupBy?: "model" | "key"): Promise<object[]> =>
  readUsage(database, {
    visibility: seesEverything,
    from: new Date(today - days * dayMs),
    to: new Date(today),
    granularity: "day",
    groupBy,
    // Like the console: a few groups and the rest.
    top: groupBy && 4,
  });

describeDatabase("a log of many days", (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
    await seedParts(database, today, days);
    const calls = shortOrLong(2_000, 20_000);
    await seedCalls(database, { ...largeSeed, requests: calls, days, end: new Date(today) });
    await foldUsage(database);
    const began = performance.now();
    await seedLog(database, { rows: rows - calls, end: today, days });
    const [size] = await database.query<{ bytes: string }>(
      "select pg_size_pretty(sum(pg_total_relation_size(name::regclass))) as bytes from request_parts",
      [],
    );
    const tookS = (performance.now() - began) / 1000;
    console.log(`${rows} rows in ${tookS.toFixed(0)} s, ${size!.bytes}`);
    await database.query("analyze");
  });

  it("the plans of queries about the last day contain only the parts near that day", async () => {
    // A page that the nearest day fills needs only that day's part. The part of today begins when this database was made.
    const near = [partOf(today - dayMs)];
    const without = (names: readonly string[]): string[] =>
      names.filter((name) => name !== partOf(today));
    for (const visibility of [seesEverything, admin]) {
      const list = { visibility, limit: 20, ...lastDay };
      const listed = await partsIn(database, (on) => listRequests(on, list));
      expect(without(listed)).toEqual(near);
      // Otherwise it may also need the part of the hour before, for clocks that differ.
      const failed = { ...list, equal: { status: "failed" } };
      const found = await partsIn(database, (on) => listRequestHeadlines(on, failed));
      expect([partOf(today - 2 * dayMs), ...near]).toEqual(expect.arrayContaining(without(found)));
      const before = { visibility, limit: 20, to: lastDay.to };
      expect(without(await partsIn(database, (on) => listRequests(on, before)))).toEqual(near);
    }
    const newest = await partsIn(database, (on) =>
      listRequests(on, { visibility: seesEverything, limit: 20 }),
    );
    expect(newest.length).toBeLessThan(16);
    expect(newest[0]! >= partOf(today - 9 * dayMs)).toBe(true);
  });

  it("usage of 90 days and the next fold read no part whose calls are all folded", async () => {
    const read = await partsIn(database, (on) => usage(on, "model"));
    expect(read[0]! >= partOf(today - 2 * dayMs)).toBe(true);
    const folded = await partsIn(database, foldUsage);
    expect(folded.filter((name) => name < partOf(today - 2 * dayMs))).toEqual([]);
  });

  it("lists, usage and each retention step stay within the time limit, and usage is the same after retention", async () => {
    const took: Record<string, number> = {};
    const timed = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
      const began = performance.now();
      const result = await work();
      took[name] = Math.max(took[name] ?? 0, Math.round(performance.now() - began));
      return result;
    };
    for (let round = 0; round < 3; round += 1) {
      if (round === 1) for (const name of Object.keys(took)) delete took[name];
      for (const [who, visibility] of Object.entries({ all: seesEverything, admin })) {
        const list = { visibility, limit: 40, ...lastDay };
        const { records } = await timed(`last day, ${who}`, () => listRequests(database, list));
        expect(records).toHaveLength(40);
        await timed(`last day, failed, ${who}`, () =>
          listRequests(database, { ...list, equal: { status: "failed" } }),
        );
        await timed(`newest, ${who}`, () => listRequests(database, { visibility, limit: 100 }));
      }
      await timed("usage", () => usage(database));
      await timed("usage by model", () => usage(database, "model"));
      await timed("usage by key", () => usage(database, "key"));
    }
    const before = await usage(database, "model");
    const retention = { requestLogDays: keptDays, isLogExported: false };
    let steps = 0;
    for (let gone = -1; gone !== 0; steps += 1)
      gone = await timed(gone === 1 ? "a part" : "rows", () => retentionStep(database, retention));
    expect(steps).toBeGreaterThan(days - keptDays);
    const [oldest] = await database.query<{ id: string }>(
      "select min(id) as id from requests where id >= 'req_' and id < 'task_'",
      [],
    );
    expect(oldest!.id >= `req_${idTime(today - keptDays * dayMs)}`).toBe(true);
    expect(await usage(database, "model")).toEqual(before);
    // Only the accounts: the seeded log has costs without entries.
    expect(await database.transaction((tx) => differencesIn(tx))).toEqual([]);
    console.log("slowest, in milliseconds:", JSON.stringify(took));
    const late = Object.entries(took).filter(([, ms]) => ms > limitMs);
    expect(isLong ? late : []).toEqual([]);
  });
});
