/** A member with thousands of keys can be removed and restored in few statements, whatever the number of keys (T70). */
import { expect, it } from "vitest";
import { adminTokenActor } from "../../src/admin/index.ts";
import { systemClock } from "../../src/base/clock.ts";
import { callDirectly } from "../../src/http/admin/direct.ts";
import { memberRestoreRoutes } from "../../src/http/admin/member-restore.ts";
import { endMembership } from "../../src/http/admin/end-membership.ts";
import type { AdminServices } from "../../src/http/services.ts";
import type { Database, Queryable } from "../../src/storage/index.ts";
import { describeDatabase, silentLog } from "../support/postgres.ts";

const keys = 2_500;

describeDatabase("a member with many keys", (open) => {
  it("T70: a member with thousands of keys is removed and restored with all of them", async () => {
    const real = await open();
    let statements = 0;
    const counted = (on: Queryable): Queryable => ({
      query(...statement) {
        statements += 1;
        return on.query(...statement);
      },
    });
    const database: Database = {
      ...real,
      transaction: (work, options) => real.transaction((tx) => work(counted(tx)), options),
    };
    await database.query("insert into workspaces (id, name) values ('w', 'w')", []);
    await database.query(
      "insert into users (id, email, name) values ('user_a', 'a@example.com', 'a')",
      [],
    );
    await database.query("insert into members (workspace_id, user_id) values ('w', 'user_a')", []);
    await database.query(
      `insert into api_keys (workspace_id, id, name, status, lookup, key_prefix, key_last4, created_by)
       select 'w', 'key_' || n, 'n', case when n = 1 then 'disabled' else 'active' end, convert_to(n::text, 'utf8'), 'gw', 'abcd', 'user_a'
       from generate_series(1, $1) n`,
      [keys],
    );
    const services = {
      database,
      clock: systemClock,
      catalog: () => ({ models: new Map() }),
    } as unknown as AdminServices;
    const states = () =>
      real.query<{ status: string; n: number }>(
        "select status, count(*)::integer as n from api_keys group by status order by status",
      );
    const request = { services, actor: adminTokenActor, requestId: "r", ifMatch: undefined };
    const reference = { workspaceId: "w", userId: "user_a" };
    const { disabledKeys } = await endMembership(request, reference);
    expect(new Set(disabledKeys).size).toBe(keys - 1);
    expect(disabledKeys).not.toContain("key_1");
    expect(await states()).toEqual([{ status: "disabled", n: keys }]);
    const options = { routes: memberRestoreRoutes, services, log: silentLog };
    const path = "/workspaces/w/members/user_a/restore";
    const { body } = await callDirectly(options, { method: "POST", path });
    expect((body as { enabled_keys: string[] }).enabled_keys).toHaveLength(keys - 1);
    expect(await states()).toEqual([
      { status: "active", n: keys - 1 },
      { status: "disabled", n: 1 },
    ]);
    expect(statements).toBeLessThan(60);
    const entries = await real.query(
      `select action, before, after, count(*)::integer as n from audit_entries where object_type = 'api_key'
       group by 1, 2, 3 order by 1`,
    );
    const [active, disabled] = [{ status: "active" }, { status: "disabled" }];
    expect(entries).toEqual([
      { action: "key.disable", before: active, after: disabled, n: keys - 1 },
      { action: "key.enable", before: disabled, after: active, n: keys - 1 },
    ]);
  });
});
