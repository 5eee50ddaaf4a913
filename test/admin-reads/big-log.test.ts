/**
 * A log of 100,000 rows (40,000 in the short form), on both kinds of database: a page takes milliseconds, and memory for one page
 * (T86).
 */
import { expect, it } from "vitest";
import { findNeighbours, listRequests, requestConditions } from "../../src/admin/index.ts";
import { newId } from "../../src/base/ids.ts";
import { createRequestLog } from "../../src/request-log/index.ts";
import { seesEverything, type Visibility } from "../../src/tenancy/index.ts";
import { readUsage } from "../../src/usage/index.ts";
import { shortOrLong } from "../support/long.ts";
import { describeDatabase, silentLog } from "../support/postgres.ts";

const rowsMax = shortOrLong(40_000, 100_000);
// With more than 25, time limits how much of the log a page reads (many-workspaces.test.ts), not the rows.
const workspaces = 25;
const startMs = Date.parse("2026-10-01T00:00:00Z");
/** More than a day in all. */
const stepMs = shortOrLong(2_500, 1_000);

describeDatabase("a long log", (open) => {
  it("T86: gives lists, filters, deep pages and sums in bounded time and memory", async () => {
    const database = await open();
    await database.query(
      "insert into workspaces (id, name) select 'ws_' || n, 'w' from generate_series(1, $1) n",
      [workspaces],
    );
    // Ids as the gateway makes them, each with its own time; a plan as long as a real one.
    const log = createRequestLog(database, silentLog);
    const explanation = { plan: "x".repeat(400) };
    for (let place = 0; place < rowsMax; place += 1) {
      const at = startMs + place * stepMs;
      log.add({
        workspaceId: place % 10 === 0 ? `ws_${1 + ((place / 10) % workspaces)}` : "ws_1",
        id: newId(place % 50 === 0 ? "task" : "req", at),
        createdAt: new Date(at),
        keyId: `key_${place % 7}`,
        model: "acme/talk",
        provider: "p",
        protocol: "chat",
        status: place % 1000 === 0 ? "failed" : "succeeded",
        httpStatus: 200,
        usage: { inputTokens: 10, outputTokens: 1 },
        costNano: 5n,
        attempts: [{ provider: "p", status: 200 }],
        explanation,
      });
      if (place % 10_000 === 9_999) await log.flush();
    }
    await database.query(
      `insert into ledger_entries (workspace_id, reference, kind, amount_nano, held_nano, balance_after_nano, key_id, created_at)
       select workspace_id, id, 'charge', 5, 9, 0, key_id, created_at from request_log order by created_at`,
    );
    await database.query("analyze");

    const only: Visibility = { ...seesEverything, everything: false, workspaceIds: ["ws_7"] };
    const times: Record<string, number> = {};
    const timed = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
      let result = await work();
      times[name] = Infinity;
      for (let count = 0; count < 3; count += 1) {
        const began = performance.now();
        result = await work();
        times[name] = Math.min(times[name], performance.now() - began);
      }
      return result;
    };
    // The reference for this machine under its present load: the time to read every row once.
    await timed("scan", () =>
      database.query(
        "select max(length(explanation::text) + length(attempts::text)) from request_log",
      ),
    );
    const list = (more: object = {}, visibility = seesEverything) =>
      listRequests(database, { visibility, limit: 100, ...more });

    const before = process.memoryUsage().rss;
    const first = await timed("newest", () => list());
    expect(first.records).toHaveLength(100);
    await timed("one workspace", () => list({ workspaceId: "ws_1" }));
    await timed("an admin's", () => list({}, only));
    await timed("a rare status", () => list({ equal: { status: "failed" } }));
    // A page with a rare filter reads a part of the log. Page by page, no row is missed and none comes twice.
    const rare = { equal: { status: "failed" }, rare: [requestConditions.min_cost(5n)] };
    const found: unknown[] = [];
    let page = await timed("a rare cost", () => list(rare));
    expect(page.scannedTo).toBeInstanceOf(Date);
    for (found.push(...page.records); page.nextCursor !== null; found.push(...page.records))
      page = await list({ ...rare, cursor: page.nextCursor });
    expect(page.scannedTo).toBeNull();
    expect(found).toEqual((await list({ equal: { status: "failed" } })).records);
    // The same from call to call, up and down.
    const filter = { visibility: seesEverything, ...rare };
    const names = (found as { id: string }[]).map(({ id }) => id);
    const middle = Math.floor(names.length / 2);
    const besideRareCost = await timed("beside a rare cost", () =>
      findNeighbours(database, names[middle]!, filter),
    );
    expect(besideRareCost).toEqual({ previous: names[middle - 1], next: names[middle + 1] });
    await timed("beside any", () =>
      findNeighbours(database, names[middle]!, { visibility: seesEverything }),
    );
    const [from, to] = [20_000, 20_050].map((at) => new Date(startMs + at * stepMs));
    const between = await timed("a minute long ago", () => list({ from, to }));
    expect(between.records).toHaveLength(50);
    const month = { from: new Date(startMs), to: new Date(startMs + 31 * 24 * 3_600_000) };
    const dear = await timed("the dearest", () => list({ ...month, sort: "cost" }));
    expect(dear.records).toHaveLength(100);
    const deep = `req_${newId("x", startMs + 500 * stepMs).slice(2)}`;
    const last = await timed("the last pages", () => list({ cursor: deep }));
    expect(last.records).toHaveLength(100);
    for (let cursor = first.nextCursor, pages = 0; cursor !== null && pages < 50; pages += 1) {
      ({ nextCursor: cursor } = await list({ cursor }));
    }
    const grown = (process.memoryUsage().rss - before) / 1e6;
    const period = { from: new Date(startMs), to: new Date(startMs + rowsMax * 2 * stepMs) };
    const rows = await timed("usage of all by day and key", () =>
      readUsage(database, {
        visibility: seesEverything,
        ...period,
        granularity: "day",
        groupBy: "key",
      }),
    );
    expect(rows).toHaveLength(14);
    const { scan = 0, "usage of all by day and key": sums, ...lists } = times;
    console.log(`a long log: milliseconds ${JSON.stringify(times)}, ${grown.toFixed(0)} MB`);
    // A page reads a fraction of the rows. A scan that sorts whole rows takes several times as long, and hundreds of megabytes.
    // Both are compared with a scan under the present load; in the short form the load may change the next moment.
    const listMsMax = Math.max(scan * shortOrLong(3, 1), 200);
    const sumsMsMax = Math.max(scan * shortOrLong(60, 20), shortOrLong(5_000, 2_000));
    expect(Object.entries(lists).filter(([, tookMs]) => tookMs > listMsMax)).toEqual([]);
    expect(sums).toBeLessThan(sumsMsMax);
    expect(grown).toBeLessThan(100);
  });
});
