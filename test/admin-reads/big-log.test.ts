/** A log of 100,000 rows, over both kinds of database: a page of it takes milliseconds, and memory for one page (T86). */
import { expect, it } from "vitest";
import { listRequests, readUsage } from "../../src/admin/index.ts";
import { newId } from "../../src/base/ids.ts";
import { seesEverything, type Visibility } from "../../src/tenancy/index.ts";
import { describeDatabases } from "../support/postgres.ts";

const rowsMax = 100_000;
const workspaces = 40;
const startMs = Date.parse("2026-10-01T00:00:00Z");
const stepMs = 1_000;

describeDatabases("a long log", (open) => {
  it("T86: lists, filters, deep pages and sums", { timeout: 120_000 }, async () => {
    const database = await open();
    await database.query(
      "insert into workspaces (id, name) select 'ws_' || n, 'w' from generate_series(1, $1) n",
      [workspaces],
    );
    // Ids as the gateway makes them, of a time each; a plan as long as a real one.
    for (let from = 0; from < rowsMax; from += 10_000) {
      const ids = Array.from({ length: 10_000 }, (_, index) =>
        newId(index % 50 === 0 ? "task" : "req", startMs + (from + index) * stepMs),
      );
      await database.query(
        `with row as (
           insert into requests (workspace_id, id, created_at, key_id, model, provider, protocol, status, http_status, usage,
             cost_nano, attempts, explanation)
           select case when place % 10 = 0 then 'ws_' || 1 + place / 10 % $3 else 'ws_1' end, id,
             $2::timestamptz + place * interval '1 second', 'key_' || place % 7, 'acme/talk', 'p', 'chat',
             case when place % 1000 = 0 then 'failed' else 'succeeded' end, 200, '{"inputTokens":10,"outputTokens":1}', 5,
             '[{"provider":"p","status":200}]', json_build_object('plan', repeat('x', 400))
           from unnest($1::text[]) with ordinality n (id, place)
           returning workspace_id, id, key_id, created_at
         )
         insert into ledger_entries (workspace_id, reference, kind, amount_nano, held_nano, balance_after_nano, key_id, created_at)
         select workspace_id, id, 'charge', 5, 9, 0, key_id, created_at from row`,
        [ids, new Date(startMs + from * stepMs), workspaces],
      );
    }
    await database.query("analyze");

    const only: Visibility = { ...seesEverything, everything: false, workspaceIds: ["ws_7"] };
    const times: Record<string, number> = {};
    const timed = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
      await work();
      const began = performance.now();
      const result = await work();
      times[name] = Math.round((performance.now() - began) * 10) / 10;
      return result;
    };
    const list = (more: object = {}, visibility = seesEverything) =>
      listRequests(database, { visibility, limit: 100, ...more });

    const before = process.memoryUsage().rss;
    const first = await timed("newest", () => list());
    expect(first.records).toHaveLength(100);
    await timed("one workspace", () => list({ workspaceId: "ws_1" }));
    await timed("an admin's", () => list({}, only));
    await timed("a rare status", () => list({ equal: { status: "failed" } }));
    const [from, to] = [20_000, 20_050].map((at) => new Date(startMs + at * stepMs));
    const between = await timed("a minute long ago", () => list({ from, to }));
    expect(between.records).toHaveLength(50);
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
    // A fraction of it where nothing else runs; a scan that sorts whole rows takes seconds and hundreds of megabytes.
    const { "usage of all by day and key": sums, ...lists } = times;
    expect(Object.entries(lists).filter(([, tookMs]) => tookMs > 500)).toEqual([]);
    expect(sums).toBeLessThan(10_000);
    expect(grown).toBeLessThan(100);
  });
});
