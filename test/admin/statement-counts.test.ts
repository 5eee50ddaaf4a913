/** Database statements of the management API: a list needs as many for many rows as for few, and a token no more than necessary. */
import { expect, it } from "vitest";
import { createToken } from "../../src/admin/index.ts";
import { ownerOfToken } from "../../src/admin/tokens.ts";
import { systemClock } from "../../src/base/clock.ts";
import { callDirectly } from "../../src/http/admin/direct.ts";
import { keyRoutes } from "../../src/http/admin/keys.ts";
import { memberRoutes } from "../../src/http/admin/members.ts";
import { workspaceRoutes } from "../../src/http/admin/workspaces.ts";
import type { AdminServices } from "../../src/http/services.ts";
import type { Database } from "../../src/storage/index.ts";
import { manualClock } from "../support/manual-clock.ts";
import { describeDatabase, silentLog } from "../support/postgres.ts";

const count = 40;

/** Workspaces, members and keys, `count` of each; the first workspace has all members and keys. Each has spent its number. */
const made = [
  "insert into organizations (id, name) values ('org_1', 'o')",
  `insert into workspaces (id, name, organization_id)
     select 'ws_' || n, 'w', case when n > 1 then 'org_1' end from generate_series(1, $1::int) n`,
  `insert into users (id, email, name)
     select 'user_' || n, n || '@example.com', 'u' || n from generate_series(1, $1::int) n`,
  `insert into members (workspace_id, user_id) select 'ws_1', 'user_' || n from generate_series(1, $1::int) n`,
  `insert into api_keys (workspace_id, id, name, status, lookup, key_prefix, key_last4, created_by)
     select 'ws_1', 'key_' || n, 'n', 'active', convert_to(n::text, 'utf8'), 'gw', 'abcd', 'user_' || n
     from generate_series(1, $1::int) n`,
  `update ledger_accounts set charged_nano = nr * 1000000000::bigint
     from (select 'ws_' || n as id, n as nr from generate_series(1, $1::int) n) made
     where made.id = workspace_id and nr % 2 = 0`,
  `insert into ledger_spend (workspace_id, scope, scope_id, total_nano, month_nano, week_nano, day_nano, last_day)
     select 'ws_1', scope, scope_id, n * 1000000000::bigint, 0, 0, 0, current_date from generate_series(1, $1::int) n,
       lateral (values ('member', 'user_' || n), ('key', 'key_' || n)) of (scope, scope_id)
     where n % 2 = 0`,
];

/** The same database, counting its statements. */
function counted(real: Database): { readonly database: Database; readonly taken: () => number } {
  let statements = 0;
  const database: Database = {
    ...real,
    query(...statement) {
      statements += 1;
      return real.query(...statement);
    },
  };
  const taken = () => {
    const before = statements;
    statements = 0;
    return before;
  };
  return { database, taken };
}

describeDatabase("lists of the management API", (open) => {
  it.each([
    ["/workspaces", "id"],
    ["/keys", "id"],
    ["/workspaces/ws_1/members", "user_id"],
  ])(
    "%s takes as many statements for many rows as for few, and gives each row its own values",
    async (path, id) => {
      const real = await open();
      for (const sql of made) await real.query(sql, sql.includes("$1") ? [count] : []);
      const { database, taken } = counted(real);
      const services = {
        database,
        clock: systemClock,
        catalog: () => ({ models: new Map() }),
      } as unknown as AdminServices;
      const routes = [...workspaceRoutes, ...keyRoutes, ...memberRoutes];
      const read = async (limit: number) => {
        taken();
        const call = { method: "GET", path, query: { limit: String(limit) } } as const;
        const { body } = await callDirectly({ routes, services, log: silentLog }, call);
        const { data } = body as { data: Record<string, unknown>[] };
        return { data, taken: taken() };
      };
      const few = await read(2);
      const many = await read(count);
      expect([few.data.length, many.data.length]).toEqual([2, count]);
      expect(many.taken).toBe(few.taken);
      const spent = many.data.map((row) => [row[id], (row["spend"] as { total: string }).total]);
      const number = (name: unknown) => Number(String(name).split("_")[1]);
      expect(spent.map(([name, total]) => [name, Number(total)])).toEqual(
        spent.map(([name]) => [name, number(name) % 2 === 0 ? number(name) : 0]),
      );
    },
  );
});

describeDatabase("a personal token", (open) => {
  it("has its last use written at most once a minute", async () => {
    const real = await open();
    await real.query("insert into users (id, email, name) values ('user_1', 'a@b.c', 'a')", []);
    const { database, taken } = counted(real);
    const clock = manualClock(Date.now());
    const context = { database, clock, secrets: { lookup: (text: string) => Buffer.from(text) } };
    const input = { userId: "user_1", name: "mine", expiresAt: null };
    const { token } = await createToken(context, input);
    const uses: number[] = [];
    taken();
    for (const laterMs of [0, 1, 59_998, 1, 1]) {
      clock.advance(laterMs);
      expect(await ownerOfToken(context, token)).toBe("user_1");
      uses.push(taken());
    }
    expect(uses).toEqual([2, 1, 1, 2, 1]);
    const [row] = await real.query("select last_used_at from admin_tokens", []);
    expect(row).toEqual({ last_used_at: new Date(clock.now() - 1) });
  });
});
