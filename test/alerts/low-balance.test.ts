/**
 * Warnings of a low balance: one warning, however many gateways check, until the balance was higher again. docs/callbacks.md
 * "Low balance".
 */
import { beforeAll, beforeEach, expect, it } from "vitest";
import type { Database } from "../../src/storage/index.ts";
import { startSpendAlerts } from "../../src/tasks/index.ts";
import { describeDatabase, silentLog } from "../support/postgres.ts";

interface Warning {
  readonly workspace_id: string;
  readonly workspace_name: string;
  readonly low_balance_alert: string;
  readonly left: string;
}

describeDatabase("a low balance", (open) => {
  let database: Database;
  let warnings: Warning[] = [];
  const log = {
    ...silentLog,
    warn(fields: object) {
      if ("left" in fields) warnings.push(fields as Warning);
    },
  };
  beforeAll(async () => {
    database = await open();
    await database.query(
      "insert into workspaces (id, name) values ('w', 'Search'), ('x', 'Other')",
    );
    await database.query(
      "insert into ledger_accounts (workspace_id) values ('w'), ('x') on conflict do nothing",
    );
  });
  beforeEach(async () => {
    await database.query("delete from low_balances");
    await set({ credits: 10, charged: 0, line: 0, low: 5 });
    warnings = [];
  });

  /** Amounts in dollars. A `line` of null is unlimited credit, a `low` of null is no warning. */
  async function set(
    now: Partial<Record<"credits" | "charged", number> & Record<"line" | "low", number | null>>,
  ): Promise<void> {
    const nano = (usd: number | null) => (usd === null ? null : BigInt(usd * 1e9));
    const columns = {
      credits: ["ledger_accounts", "credits_nano", "workspace_id"],
      charged: ["ledger_accounts", "charged_nano", "workspace_id"],
      line: ["workspaces", "credit_line_nano", "id"],
      low: ["workspaces", "low_balance_nano", "id"],
    } as const;
    for (const [name, usd] of Object.entries(now)) {
      const [table, column, id] = columns[name as keyof typeof columns];
      await database.query(`update ${table} set ${column} = $1::bigint where ${id} = 'w'`, [
        nano(usd),
      ]);
    }
  }
  const startAlerts = (options: { sweeps?: boolean; database?: Database } = {}) =>
    startSpendAlerts({
      database: options.database ?? database,
      clock: { now: () => Date.now() },
      log,
      wakeDeliverer() {},
      sweeps: () => options.sweeps === true,
      everyMs: 3_600_000,
    });
  /** One check by each of `gateways` gateways, all of which charged the workspace. Returns the `left` of each warning. */
  async function warningsAfterCheck(gateways = 1): Promise<string[]> {
    const all = Array.from({ length: gateways }, () => startAlerts());
    for (const one of all) one.charged("w", "k");
    await Promise.all(all.map((one) => one.close()));
    const lefts = warnings.map(({ left }) => left);
    warnings = [];
    return lefts;
  }

  it("is reported once, however many gateways check at the same time or later", async () => {
    await set({ charged: 4.999999999 });
    expect(await warningsAfterCheck(4)).toEqual([]);
    await set({ charged: 5 });
    const alerts = Array.from({ length: 4 }, () => startAlerts());
    for (const one of alerts) one.charged("w", "k");
    await Promise.all(alerts.map((one) => one.close()));
    expect(warnings).toEqual([
      { workspace_id: "w", workspace_name: "Search", low_balance_alert: "5", left: "5" },
    ]);
    warnings = [];
    await set({ charged: 9 });
    expect(await warningsAfterCheck(4)).toEqual([]);
  });

  it("is reported again only after credit brings it above the amount", async () => {
    await set({ charged: 9 });
    expect(await warningsAfterCheck()).toEqual(["1"]);
    await set({ credits: 12 });
    expect(await warningsAfterCheck()).toEqual([]);
    await set({ credits: 20 });
    expect(await warningsAfterCheck()).toEqual([]);
    await set({ charged: 18 });
    expect(await warningsAfterCheck()).toEqual(["2"]);
  });

  it("is reported again for another amount, and never without an amount", async () => {
    await set({ charged: 9 });
    expect(await warningsAfterCheck()).toEqual(["1"]);
    await set({ low: 3 });
    expect(await warningsAfterCheck()).toEqual(["1"]);
    await set({ low: null });
    expect(await warningsAfterCheck()).toEqual([]);
    await set({ low: 3 });
    expect(await warningsAfterCheck()).toEqual(["1"]);
    await set({ low: 0 });
    expect(await warningsAfterCheck()).toEqual([]);
    await set({ charged: 11 });
    expect(await warningsAfterCheck()).toEqual(["-1"]);
  });

  it("counts the credit line as available; an unlimited workspace is never low", async () => {
    await set({ charged: 9, line: 100 });
    expect(await warningsAfterCheck()).toEqual([]);
    await set({ charged: 106 });
    expect(await warningsAfterCheck()).toEqual(["4"]);
    await set({ line: null });
    expect(await warningsAfterCheck()).toEqual([]);
  });

  it("is found by the sweep without any charge: after a raised amount, or credit that was taken back", async () => {
    await set({ credits: 3 });
    await startAlerts({ sweeps: true }).close();
    expect(warnings.map(({ left }) => left)).toEqual(["3"]);
  });

  it("is reported once for each of thousands of workspaces, a thousand in a transaction", async () => {
    await database.query(`
      with added as (insert into workspaces (id, name, low_balance_nano) select 'many_' || n, 'M', 5 from generate_series(1, 2500) n returning id)
      insert into ledger_accounts (workspace_id) select id from added on conflict do nothing`);
    const sizes: number[] = [];
    const counted: Database = {
      ...database,
      transaction: (work) =>
        database.transaction(async (tx) => {
          const rows = async () =>
            (await tx.query<{ n: number }>("select count(*)::integer as n from low_balances"))[0]!
              .n;
          const had = await rows();
          const result = await work(tx);
          sizes.push((await rows()) - had);
          return result;
        }),
    };
    await startAlerts({ sweeps: true, database: counted }).close();
    expect(new Set(warnings.map((one) => one.workspace_id)).size).toBe(2500);
    expect(warnings).toHaveLength(2500);
    expect(Math.max(...sizes)).toBe(1000);
  });
});
