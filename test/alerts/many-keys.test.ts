/** A check of the caps of charged keys reads only those keys, however many there are (T86). */
import { beforeAll, expect, it } from "vitest";
import type { Database, Queryable } from "../../src/storage/index.ts";
import { startSpendAlerts } from "../../src/tasks/index.ts";
import { describeDatabase, silentLog } from "../support/postgres.ts";
import { planOf } from "../support/query-plan.ts";

describeDatabase("spend alerts of many keys", (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
    await database.query(`
      insert into workspaces (id, name) select 'ws_' || n, 'w' from generate_series(0, 499) n;
      insert into api_keys (workspace_id, id, name, lookup, key_prefix, key_last4, cap_daily_nano)
        select 'ws_' || n % 500, 'key_' || n, 'k', decode(md5(n::text), 'hex'), 'p', 'abcd', 100 from generate_series(1, 5000) n;
      insert into ledger_spend (workspace_id, scope, scope_id, total_nano, month_nano, week_nano, day_nano, last_day)
        select workspace_id, 'key', id, 90, 90, 90, 90, (ledger_now() at time zone 'UTC')::date from api_keys;
      analyze`);
  });

  /** The tables that the checks scan sequentially, and the number of alerts, after charges to `keys`. */
  async function readWhole(keys: readonly (readonly [workspace: string, key: string])[]) {
    const tablesRead = new Set<string>();
    const explained = (tx: Queryable): Queryable => ({
      async query(sql, params, options) {
        if (sql.includes("touched")) {
          for (const node of await planOf(tx, sql, params))
            if (node["Node Type"] === "Seq Scan") tablesRead.add(node["Relation Name"]!);
        }
        return tx.query(sql, params, options);
      },
    });
    const alerts = startSpendAlerts({
      database: {
        ...database,
        transaction: (work) => database.transaction((tx) => work(explained(tx))),
      },
      clock: { now: () => Date.now() },
      log: silentLog,
      wakeDeliverer() {},
      sweeps: () => keys.length === 0,
      everyMs: 3_600_000,
    });
    for (const [workspaceId, keyId] of keys) alerts.charged(workspaceId, keyId);
    await alerts.close();
    const rows = await database.query<{ scope_id: string }>("select scope_id from spend_alerts");
    await database.query("delete from spend_alerts");
    return { tablesRead: [...tablesRead], alerts: rows.length };
  }

  it("read only the key that was charged", async () => {
    const { tablesRead, alerts } = await readWhole([["ws_7", "key_7"]]);
    // Its charges have passed two thresholds: 50 and 80.
    expect(alerts).toBe(2);
    expect(tablesRead.filter((table) => /^(?:api_keys|ledger_spend)$/.test(table))).toEqual([]);
  });

  it("read all keys in a sweep", async () => {
    const { tablesRead, alerts } = await readWhole([]);
    expect(alerts).toBe(10_000);
    expect(tablesRead).toContain("api_keys");
  });
});
