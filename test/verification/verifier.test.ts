/**
 * `verify` in a running gateway: one run at a time wherever it is requested, and its result is kept. A stop ends it in the
 * middle of a statement, and it is never shown as running when no process runs it.
 */
import { afterEach, beforeAll, expect, it } from "vitest";
import { createVerifier, verifyLedger, type Verifier } from "../../src/verification/index.ts";
import type { Database } from "../../src/storage/index.ts";
import { eventually } from "../support/patience.ts";
import { describeDatabase, silentLog } from "../support/postgres.ts";
import { addKey, addWorkspace, tamper } from "../ledger/support.ts";
import { createLedger } from "../support/ledger.ts";

describeDatabase("verifiers of several gateways", (open) => {
  let database: Database;
  const opened: Verifier[] = [];
  const verifier = (): Verifier => {
    const one = createVerifier(database, silentLog);
    opened.push(one);
    return one;
  };
  beforeAll(async () => {
    database = await open();
    // Two workspaces without entries, before and after the one with entries.
    for (const id of ["v", "w", "x"]) await addWorkspace(database, id);
    const ledger = createLedger(database);
    for (const [reference, amountNano] of [
      ["credit-1", 5_000_000_000n],
      ["credit-2", 7n],
    ] as const)
      await ledger.credit({ workspaceId: "w", reference, amountNano });
    await ledger.close();
  });
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
  });

  /** Runs `work` while a transaction holds a lock. The server does not end it when it is idle for long, as on a slow machine. */
  const withLock = (lockSql: string, work: () => Promise<void>): Promise<void> =>
    database.transaction(async (tx) => {
      await tx.query("set local idle_in_transaction_session_timeout = 0");
      await tx.query(lockSql);
      await work();
    });
  /** Keeps every run waiting at its first entry until `work` is done. */
  const whileLocked = (work: () => Promise<void>): Promise<void> =>
    withLock("lock table ledger_entries in access exclusive mode", work);
  /** A run's result is there a moment before its lock is free. */
  const startRun = (by: Verifier) => eventually(() => by.start(), "a run may begin");
  const endOfRun = (of: Verifier) =>
    eventually(async () => {
      const run = await of.read();
      return run?.state !== "running" && run;
    }, "the run has ended");

  it("a run is undefined before the first start, and finds no difference in a sound ledger", async () => {
    const one = verifier();
    expect(await one.read()).toBeUndefined();
    await startRun(one);
    const run = await endOfRun(one);
    expect(run).toMatchObject({ state: "done", differencesCount: 0, differences: [], entries: 2 });
    expect(run.finishedAt! >= run.startedAt).toBe(true);
  });

  it("BILL-01: a log row whose cost differs from the charge is a difference, and a missing log row is not", async () => {
    const other = await open();
    await addWorkspace(other, "w");
    await addKey(other, { workspaceId: "w", id: "k" });
    const ledger = createLedger(other);
    await ledger.credit({ workspaceId: "w", reference: "credit-1", amountNano: 100n });
    const call = { workspaceId: "w", keyId: "k", keyRotation: 0, amountNano: 20n };
    for (const [id, amountNano] of [
      ["req_a", 7n],
      ["req_b:late", 8n],
      ["req_c", 9n],
      ["req_unknown", 4n],
      ["req_gone", 5n],
    ] as const)
      await ledger.spend({ ...call, id }, () => Promise.resolve({ amountNano }));
    await ledger.close();
    expect(await verifyLedger(other)).toEqual([]);
    // One row has cost 0, because the database's answer was lost; retention dropped another row.
    await other.query(
      `insert into requests (workspace_id, id, cost_nano)
       values ('w', 'req_a', 7), ('w', 'req_b', 8), ('w', 'req_unknown', 0)`,
    );
    expect(await verifyLedger(other)).toEqual([]);
    await other.query(
      "insert into requests (workspace_id, id, cost_nano) values ('w', 'req_c', 8), ('w', 'req_none', 3)",
    );
    const one = createVerifier(other, silentLog);
    opened.push(one);
    await startRun(one);
    const { differences } = (await endOfRun(one)) as { differences: readonly object[] };
    for (const found of [differences, await verifyLedger(other)])
      expect(found).toEqual([
        {
          workspaceId: "w",
          what: "cost of req_c in the request log",
          recordedNano: 8n,
          computedNano: 9n,
        },
        {
          workspaceId: "w",
          what: "cost of req_none in the request log",
          recordedNano: 3n,
          computedNano: 0n,
        },
      ]);
  });

  it("concurrent starts begin one run, and every gateway sees that it runs", async () => {
    const [one, other] = [verifier(), verifier()];
    await whileLocked(async () => {
      const begun = await Promise.all([one.start(), other.start(), one.start(), other.start()]);
      expect(begun.filter(Boolean)).toHaveLength(1);
      for (const each of [one, other])
        expect(await each.read()).toMatchObject({ state: "running", finishedAt: null });
    });
    expect(await endOfRun(other)).toMatchObject({ state: "done" });
    await startRun(other);
    expect(await endOfRun(one)).toMatchObject({ state: "done" });
  });

  it("a run is running while its lock is held, and once it is done the next can start", async () => {
    const one = verifier();
    await withLock("select pg_advisory_xact_lock(1866402117)", async () => {
      expect(await one.read()).toMatchObject({ state: "running", finishedAt: null });
      expect(await one.start()).toBe(false);
    });
    expect(await one.read()).toMatchObject({ state: "done" });
    expect(await one.start()).toBe(true);
    expect(await endOfRun(one)).toMatchObject({ state: "done" });
  });

  it("a run that a stop ends is interrupted, and can start again", async () => {
    const [one, other] = [verifier(), verifier()];
    await whileLocked(async () => {
      await startRun(one);
      await one.close();
      // The server frees a run's lock a moment after its connection was closed.
      expect(await endOfRun(other)).toMatchObject({ state: "interrupted", finishedAt: null });
      expect(await one.start()).toBe(false);
    });
    await startRun(other);
    expect(await endOfRun(other)).toMatchObject({ state: "done" });
  });

  it("a run fails if the database cannot answer, and can start again", async () => {
    await database.query("alter table usage_folds rename to elsewhere");
    const one = verifier();
    await startRun(one);
    const run = await endOfRun(one);
    await database.query("alter table elsewhere rename to usage_folds");
    expect(run).toMatchObject({ state: "failed", differencesCount: 0 });
    await startRun(one);
    expect(await endOfRun(one)).toMatchObject({ state: "done" });
  });

  it("a run that fails is running until its failure is stored, and no other run can start before", async () => {
    await database.query("alter table usage_folds rename to elsewhere");
    const other = verifier();
    const seen: unknown[] = [];
    const watched: Database = {
      ...database,
      query: async (sql, params, options) => {
        if (params?.[0] === "failed") {
          await eventually(async () => {
            const aborted = await database.query(
              "select from pg_stat_activity where datname = current_database() and state like '%(aborted)'",
            );
            return aborted.length > 0;
          }, "the end of the failed statement");
          seen.push((await other.read())?.state, await other.start());
        }
        return database.query(sql, params, options);
      },
    };
    const one = createVerifier(watched, silentLog);
    opened.push(one);
    await startRun(one);
    expect(await endOfRun(one)).toMatchObject({ state: "failed" });
    await database.query("alter table elsewhere rename to usage_folds");
    expect(seen).toEqual(["running", false]);
  });

  it("a run reports which number is off and by how much, and keeps the first 200 differences", async () => {
    await tamper(
      database,
      "update ledger_accounts set credits_nano = credits_nano + 3 where workspace_id = 'w'",
    );
    const one = verifier();
    await startRun(one);
    const run = await endOfRun(one);
    expect(run.state).toBe("done");
    expect(run.differences).toEqual([
      {
        workspaceId: "w",
        what: "account credits",
        recordedNano: 5_000_000_010n,
        computedNano: 5_000_000_007n,
      },
    ]);
    await tamper(
      database,
      `insert into ledger_entries (workspace_id, entry, reference, kind, amount_nano, held_nano, balance_after_nano, created_at)
       overriding system value
       select 'w', 1000 + n, 'more-' || n, 'credit', 1, 0, -1, now() from generate_series(1, 2500) n`,
    );
    await startRun(one);
    const many = await endOfRun(one);
    expect(many.differencesCount).toBeGreaterThan(2_000);
    expect(many.differences).toHaveLength(200);
  });
});

describeDatabase("accounts", (open) => {
  it("beyond the first page are compared, and a missing account is reported", async () => {
    const database = await open();
    await addWorkspace(database, "w");
    const ledger = createLedger(database);
    await ledger.credit({ workspaceId: "w", reference: "credit", amountNano: 7n });
    await ledger.close();
    await tamper(
      database,
      `insert into ledger_accounts (workspace_id, held_nano)
       select 'x' || n, case when n = 1600 then 1 else 0 end from generate_series(1101, 1600) n`,
    );
    await tamper(database, `insert into ledger_accounts (workspace_id, held_nano) values ('y', 2)`);
    const held = { what: "account held", computedNano: 0n };
    const behind = [
      { ...held, workspaceId: "x1600", recordedNano: 1n },
      { ...held, workspaceId: "y", recordedNano: 2n },
    ];
    expect(await verifyLedger(database)).toEqual(behind);
    await tamper(database, "delete from ledger_accounts where workspace_id = 'w'");
    const missing = { workspaceId: "w", what: "account", recordedNano: 0n, computedNano: 7n };
    expect(await verifyLedger(database)).toEqual([missing, ...behind]);
  });

  it("BILL-01: are not reported as missing once the list of differences is full", async () => {
    const database = await open();
    for (const workspaceId of ["a", "b"]) await addWorkspace(database, workspaceId);
    const ledger = createLedger(database);
    for (const workspaceId of ["a", "b"])
      await ledger.credit({ workspaceId, reference: "credit", amountNano: 7n });
    await ledger.close();
    await tamper(
      database,
      `insert into ledger_entries (workspace_id, entry, reference, kind, amount_nano, held_nano, balance_after_nano, key_id, created_at)
       overriding system value
       select 'a', 1000 + n, 'more-' || n, 'void', 0, 0, -1, 'k', now() from generate_series(1, 4100) n`,
    );
    const found = await verifyLedger(database);
    expect(found.length).toBeGreaterThanOrEqual(4_000);
    expect(found.filter(({ what }) => !/^entry entry_\d+ balance_after$/.test(what))).toEqual([]);
  });
});
