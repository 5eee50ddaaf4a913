/** Usage of a key, or for a member who sees few workspaces, reads only the accounts of those, however many there are (T86). */
import { beforeAll, expect, it } from "vitest";
import type { Database, Queryable } from "../../src/storage/index.ts";
import { seesEverything, type Visibility } from "../../src/tenancy/index.ts";
import { readUsage, type UsageFilter } from "../../src/usage/index.ts";
import { describeDatabase } from "../support/postgres.ts";
import { planOf } from "../support/query-plan.ts";
import { seedCalls, seedId } from "../support/seed/calls.ts";

const end = new Date("2026-11-20T00:00:00Z");
const workspaces = 200;
const size = { requests: 2_000, days: 2, keys: 400, models: 5, members: 200, providers: 2 };

describeDatabase("usage of many workspaces", (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
    await seedCalls(database, { ...size, workspaces, end });
  });

  /** The answer, and the largest number of accounts that a plan expects to read. */
  async function readWithPlan(filter: Pick<UsageFilter, "visibility" | "equal">) {
    let accounts = 0;
    const spy: Queryable = {
      async query(sql, params, options) {
        if (sql.includes("ledger_accounts"))
          for (const node of await planOf(database, sql, params))
            if (node["Relation Name"] === "ledger_accounts")
              accounts = Math.max(accounts, node["Plan Rows"]);
        return database.query(sql, params, options);
      },
    };
    const from = new Date(end.getTime() - size.days * 86_400_000);
    const period = { from, to: end, granularity: "day" as const, groupBy: "model" as const };
    return { rows: await readUsage(spy, { ...filter, ...period }), accounts };
  }

  const keyOf = async (): Promise<{ id: string; workspace_id: string }> => {
    const [key] = await database.query<{ id: string; workspace_id: string }>(
      `select key_id as id, workspace_id from ledger_entries where kind = 'charge' order by entry limit 1`,
    );
    return key!;
  };

  it("T86: a key's usage reads only the account of its workspace, even for an operator", async () => {
    const key = await keyOf();
    const given = { visibility: seesEverything, equal: { key_id: key.id } };
    const { rows, accounts } = await readWithPlan(given);
    expect(rows.length).toBeGreaterThan(0);
    expect(accounts).toBe(1);
    // The rows are the same if the workspace is given, and none if it is not visible.
    const withWorkspace = { ...given, equal: { key_id: key.id, workspace_id: key.workspace_id } };
    expect((await readWithPlan(withWorkspace)).rows).toEqual(rows);
    const otherWorkspace = { ...given, equal: { key_id: key.id, workspace_id: "ws_elsewhere" } };
    expect((await readWithPlan(otherWorkspace)).rows).toEqual([]);
    const strangers: Visibility = {
      ...seesEverything,
      everything: false,
      workspaceIds: ["ws_elsewhere"],
    };
    expect((await readWithPlan({ ...given, visibility: strangers })).rows).toEqual([]);
  });

  it("T86: a member of one workspace reads only its account", async () => {
    const one = seedId.workspace(7);
    const visibility = { ...seesEverything, everything: false, workspaceIds: [one] };
    const { rows, accounts } = await readWithPlan({ visibility });
    expect(rows.length).toBeGreaterThan(0);
    expect(accounts).toBe(1);
    expect((await readWithPlan({ visibility: seesEverything })).accounts).toBe(workspaces);
  });
});
