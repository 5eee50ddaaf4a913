/** The request log's writer: every row arrives once, and no input makes the writer fail. */
import { expect, it } from "vitest";
import type { Database } from "../../src/storage/index.ts";
import { eventually } from "../support/patience.ts";
import { describeDatabase, silentLog } from "../support/postgres.ts";
import { createRequestLog, type RequestRow } from "../../src/request-log/index.ts";

const row = (id: string): RequestRow => ({
  workspaceId: "w",
  id,
  createdAt: new Date("2026-11-04T12:00:00.123Z"),
});

describeDatabase("the writer of the request log", (open) => {
  it("writes each added row once, with every column, before flush resolves", async () => {
    const database = await open();
    const requestLog = createRequestLog(database, silentLog);
    requestLog.add({
      ...row("full"),
      keyId: "k",
      model: "acme/talk",
      provider: "local",
      protocol: "chat",
      upstreamProtocol: "chat",
      status: "succeeded",
      httpStatus: 200,
      usage: { inputTokens: 3 },
      usageSource: "upstream",
      costNano: 9_007_199_254_740_993n,
      durationMs: 12.7,
      firstTokenMs: 3,
      dropped: ["service_tier"],
      notes: [{ param: "service_tier", kind: "dropped", detail: "never forwarded" }],
      attempts: [{ provider: "local", cost: 5n }],
      explanation: { plan: [] },
      stream: true,
      errorMessage: "cut short",
      tags: { team: "search" },
      endUser: "u-1",
      price: { input: 5n },
    });
    for (let index = 0; index < 2_000; index += 1) requestLog.add(row(`r${index}`));
    requestLog.add(row("full"));
    await requestLog.flush();
    const rows = await database.query("select * from request_log where id = 'full'");
    expect(rows).toEqual([
      {
        workspace_id: "w",
        id: "full",
        created_at: new Date("2026-11-04T12:00:00.123Z"),
        key_id: "k",
        model: "acme/talk",
        provider: "local",
        protocol: "chat",
        upstream_protocol: "chat",
        status: "succeeded",
        http_status: 200,
        usage: { inputTokens: 3 },
        usage_source: "upstream",
        cost_nano: 9_007_199_254_740_993n,
        duration_ms: 13,
        first_token_ms: 3,
        dropped: ["service_tier"],
        notes: [{ param: "service_tier", kind: "dropped", detail: "never forwarded" }],
        attempts: [{ provider: "local", cost: "5" }],
        explanation: { plan: [] },
        stream: true,
        error_message: "cut short",
        tags: { team: "search" },
        end_user: "u-1",
        price: { input: "5" },
      },
    ]);
    const [count] = await database.query<{ n: bigint }>(
      "select count(*) as n from request_log",
      [],
    );
    expect(count?.n).toBe(2_001n);
  });

  it("T87: loses only the row that the database refuses, and replaces characters that the database cannot store", async () => {
    const database = await open();
    const errors: object[] = [];
    const requestLog = createRequestLog(database, {
      ...silentLog,
      error: (fields) => errors.push(fields),
    });
    requestLog.add(row("before"));
    requestLog.add({ ...row("odd"), model: "a\u0000b\ud800c", notes: ["\udc00 \\u0000"] });
    requestLog.add({ ...row("bad"), httpStatus: 1e12 });
    requestLog.add(row("after"));
    await requestLog.flush();
    const rows = await database.query("select id, model, notes from request_log order by id", []);
    expect(rows).toEqual([
      { id: "after", model: null, notes: null },
      { id: "before", model: null, notes: null },
      { id: "odd", model: "a\ufffdb\ufffdc", notes: ["\ufffd \\u0000"] },
    ]);
    expect(errors).toMatchObject([{ rows: 1 }]);
  });

  it("waits for a database that is away for a second, and counts the rows that it cannot write", async () => {
    const database = await open();
    let failures = 5;
    const failing: Database = {
      ...database,
      query: async (sql, params, options) => {
        if (sql.includes("insert into requests ") && failures-- > 0)
          throw Object.assign(new Error("the server starts"), { code: "57P03" });
        return database.query(sql, params, options);
      },
    };
    const errors: object[] = [];
    const requestLog = createRequestLog(
      failing,
      { ...silentLog, error: (fields) => errors.push(fields) },
      0,
    );
    requestLog.add(row("patient"));
    await eventually(async () => {
      const rows = await database.query("select 1 from request_log where id = 'patient'", []);
      return rows.length === 1;
    }, "the row");
    expect([requestLog.lost, errors]).toEqual([0, []]);
    requestLog.add({ ...row("bad"), httpStatus: 1e12 });
    requestLog.add(row("after"));
    await requestLog.flush();
    expect(requestLog.lost).toBe(1);
  });

  it("cuts a duration beyond the column's range: a task may end a month later, after all gateways were stopped", async () => {
    const database = await open();
    const requestLog = createRequestLog(database, silentLog);
    requestLog.add({ ...row("long"), durationMs: 31 * 86_400_000 });
    requestLog.add({ ...row("back"), durationMs: -31 * 86_400_000 });
    await requestLog.flush();
    expect(await database.query("select id, duration_ms from request_log order by id")).toEqual([
      { id: "back", duration_ms: -(2 ** 31 - 1) },
      { id: "long", duration_ms: 2 ** 31 - 1 },
    ]);
  });

  it("a reader of the log does not make it give up rows for a database that is away for two seconds", async () => {
    const database = await open();
    const beganMs = performance.now();
    const failing: Database = {
      ...database,
      query: async (sql, params, options) => {
        if (sql.includes("insert into requests ") && performance.now() - beganMs < 1_700)
          throw Object.assign(new Error("the server starts"), { code: "57P03" });
        return database.query(sql, params, options);
      },
    };
    const requestLog = createRequestLog(failing, silentLog, 0);
    requestLog.add(row("read"));
    await requestLog.flush();
    expect(requestLog.lost).toBe(0);
    await requestLog.close();
  });

  it("T67: logs a call without cost whose charge was lost in a failover between the charge and the row", async () => {
    const database = await open();
    await database.query(
      `insert into ledger_entries (workspace_id, reference, kind, amount_nano, held_nano, balance_after_nano, key_id, created_at)
       values ('w', 'kept', 'charge', 7, 0, 0, 'k', now()), ('w', 'late:late', 'charge', 7, 0, 0, 'k', now())`,
    );
    let failures = 1;
    const failing: Database = {
      ...database,
      query: async (sql, params, options) => {
        if (sql.includes("insert into requests ") && failures-- > 0)
          throw Object.assign(new Error("the server stops"), { code: "57P01" });
        return database.query(sql, params, options);
      },
    };
    const requestLog = createRequestLog(failing, silentLog);
    for (const id of ["kept", "late", "lost"]) requestLog.add({ ...row(id), costNano: 7n });
    await requestLog.flush();
    expect(await database.query("select id, cost_nano from request_log order by id")).toEqual([
      { id: "kept", cost_nano: 7n },
      { id: "late", cost_nano: 7n },
      { id: "lost", cost_nano: 0n },
    ]);
  });
});
