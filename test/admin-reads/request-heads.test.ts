/** A page of one workspace reads only that workspace's heads, not those of the whole installation (T86). */
import { beforeAll, expect, it } from "vitest";
import { listRequestHeadlines, requestConditions } from "../../src/admin/index.ts";
import type { Database, Queryable } from "../../src/storage/index.ts";
import { seesEverything, type Visibility } from "../../src/tenancy/index.ts";
import { describeDatabase } from "../support/postgres.ts";
import { planOf } from "../support/query-plan.ts";

const workspaces = 100;
const ofOne: Visibility = { ...seesEverything, everything: false, workspaceIds: ["ws_7"] };

describeDatabase("heads of many workspaces", (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
    await database.query(
      "insert into workspaces (id, name) select 'ws_' || n, 'w' from generate_series(1, $1) n",
      [workspaces],
    );
    await database.query(
      `insert into request_heads (workspace_id, id, key_id, model, provider, status, explanation, month)
       select 'ws_' || 1 + n % $1, md5(n::text)::uuid, 'key_' || 1 + n % $1, 'a/one', 'p', 'failed',
         json_build_object('error', 'upstream_unavailable', 'plan', repeat(md5(n::text), 20)), '2026-11-01'
       from generate_series(1, 20000) n`,
      [workspaces],
    );
    await database.query(
      `insert into requests (workspace_id, id, cost_nano, head)
       select 'ws_' || 1 + n % $1, 'req_' || id_time(now() - n * interval '1 s') || lpad(n::text, 16, '0'), 5, md5(n::text)::uuid
       from generate_series(1, 20000) n`,
      [workspaces],
    );
    await database.query(
      `insert into api_keys (workspace_id, id, name, lookup, key_prefix, key_last4, created_by)
       values ('ws_8', 'key_8', 'k', 'k', 'p', 'abcd', 'user_8')`,
    );
    await database.query("analyze");
  });

  /** How a page is read: its number of rows, and how the heads are searched. */
  async function found(filter: Parameters<typeof listRequestHeadlines>[1]) {
    const asked: (readonly [string, readonly unknown[] | undefined])[] = [];
    const spy: Queryable = {
      query(sql, params, options) {
        if (sql.includes("request_heads")) asked.push([sql, params]);
        return database.query(sql, params, options);
      },
    };
    const { records } = await listRequestHeadlines(spy, filter);
    const scans = new Set<string>();
    for (const [sql, params] of asked) {
      for (const node of await planOf(database, sql, params))
        if (node["Relation Name"] === "request_heads") scans.add(node["Node Type"]);
    }
    return { rows: records.length, isWhole: scans.has("Seq Scan"), isAsked: scans.size > 0 };
  }

  const conditions = {
    key: { equal: { key_id: "key_7" } },
    status: { equal: { status: "failed,expired" } },
    error: { rare: [requestConditions.error_code("upstream_unavailable")] },
    "text of the error": { rare: [requestConditions.q("UNAVAILABLE")] },
    attempt: { rare: [requestConditions.attempted_provider("nobody")] },
  };
  it.each(Object.entries(conditions))(
    "T86: a filter by %s within one workspace reads only that workspace's heads",
    async (name, condition) => {
      const rows = name === "attempt" ? 0 : 20;
      const filters = [
        { visibility: seesEverything, workspaceId: "ws_7", ...condition },
        { visibility: ofOne, ...condition },
      ];
      for (const filter of filters)
        expect(await found(filter)).toEqual({ rows, isWhole: false, isAsked: true });
    },
  );

  it("T86: a reader of all workspaces finds the rows of any workspace", async () => {
    const all = { visibility: seesEverything, equal: { key_id: "key_9" } };
    expect(await found(all)).toMatchObject({ rows: 20, isAsked: true });
    const elsewhere = { visibility: ofOne, equal: { key_id: "key_9" } };
    expect(await found(elsewhere)).toMatchObject({ rows: 0 });
  });

  it("T86: a page over all workspaces, or over a member's keys, does not read all heads of each part of the log", async () => {
    // A row each second, with the workspaces in turn: so some minutes have few rows of each, as a day has in an installation with
    // many workspaces.
    const minutes = { limit: 5, from: new Date(Date.now() - 900_000) };
    const all = { visibility: seesEverything, equal: { status: "failed,expired" }, ...minutes };
    expect(await found(all)).toEqual({ rows: 5, isWhole: false, isAsked: true });
    const own = { ...ofOne, workspaceIds: [], ownWorkspaceIds: ["ws_8"], userId: "user_8" };
    const wanted = { visibility: own, ...minutes };
    expect(await found(wanted)).toEqual({ rows: 5, isWhole: false, isAsked: true });
  });

  it("T86: the end of a page with rare filters is found in the index, without reading the skipped rows", async () => {
    const scans: string[] = [];
    const spy: Queryable = {
      async query(sql, params, options) {
        if (sql.includes("with seen"))
          for (const node of await planOf(database, sql, params))
            if (node["Plan Rows"] > 100 && node["Relation Name"]?.startsWith("requests") === true)
              scans.push(node["Node Type"]);
        return database.query(sql, params, options);
      },
    };
    const rare = [requestConditions.error_code("upstream_unavailable")];
    await listRequestHeadlines(spy, { visibility: ofOne, rare });
    expect(scans).toEqual(["Index Only Scan"]);
  });

  it("T86: the calls of a key are read from its workspace only, for any reader, by time and by cost", async () => {
    const ofKey = { visibility: seesEverything, equal: { key_id: "key_8" } };
    const from = new Date(Date.now() - 86_400_000);
    for (const filter of [ofKey, { ...ofKey, sort: "cost" as const, from }])
      expect(await found(filter)).toEqual({ rows: 20, isWhole: false, isAsked: true });
    // A workspace that the reader does not see narrows nothing, and the page is empty.
    const foreign = { ...ofKey, visibility: ofOne };
    expect(await found(foreign)).toMatchObject({ rows: 0 });
  });
});
