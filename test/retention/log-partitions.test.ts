/**
 * The request log in parts: a former single table becomes the first part, each row goes to its day, and a wrong clock loses no
 * row.
 */
import { expect, it } from "vitest";
import { listRequests } from "../../src/admin/index.ts";
import { newId } from "../../src/base/ids.ts";
import { createRequestLog } from "../../src/request-log/index.ts";
import { keepParts } from "../../src/retention/index.ts";
import type { Database } from "../../src/storage/index.ts";
import { seesEverything } from "../../src/tenancy/index.ts";
import { foldUsage } from "../../src/usage/index.ts";
import { describeDatabase, silentLog } from "../support/postgres.ts";

const dayMs = 86_400_000;
const startOfDay = (ms: number): number => Math.floor(ms / dayMs) * dayMs;
const dayName = (ms: number): string => new Date(ms).toISOString().slice(0, 10).replaceAll("-", "");

const insert = (database: Database, ids: readonly string[], cost = 0): Promise<object[]> =>
  database.query(
    `insert into requests (workspace_id, id, cost_nano, status, created_at)
     select 'w', id, $2, 'succeeded', now() from unnest($1::text[]) id`,
    [ids, cost],
  );

/** The part of each row. */
async function partsOfRows(database: Database): Promise<Record<string, string>> {
  const rows = await database.query<{ id: string; place: string }>(
    "select id, tableoid::regclass::text as place from requests",
    [],
  );
  return Object.fromEntries(rows.map(({ id, place }) => [id, place]));
}

const partsOf = (database: Database): Promise<{ name: string }[]> =>
  database.query<{ name: string }>("select name from request_parts order by name", []);

describeDatabase("the parts of the request log", (open) => {
  it("a row goes to the part of its id, and each part refuses a duplicate id", async () => {
    const database = await open();
    const nowMs = Date.now();
    const [before, today] = [newId("req", nowMs - 40 * dayMs), newId("req")];
    const task = newId("task", nowMs - 3 * dayMs);
    const late = newId("req", nowMs + 400 * dayMs);
    await insert(database, [before, "odd", task, late, today]);
    const partOfRow = await partsOfRows(database);
    expect(partOfRow).toMatchObject({
      [before]: "requests_before",
      odd: "requests_before",
      [task]: "requests_task_before",
      [late]: "requests_default",
    });
    expect(partOfRow[today]).toMatch(/^requests_req_\d{8}_\d{8}$/);
    for (const id of [before, task, late, today])
      await expect(insert(database, [id])).rejects.toThrow(/duplicate key/);
  });

  it("a large old table becomes a part while calls are written, and calls are folded only afterwards", async () => {
    const database = await open();
    const [end] = await database.query<{ low: string }>(
      "select until as low from request_parts where name = 'requests_before'",
      [],
    );
    // The state of a log that was too large to become a part at a start.
    await database.query(
      `alter table requests detach partition requests_before;
       alter table requests_before add constraint requests_before_end check (id < 'req_${end!.low}') not valid`,
    );
    const nowMs = Date.now();
    const ids = Array.from({ length: 30 }, (_, place) => newId("req", nowMs - place * dayMs - 1));
    const moving = Array.from({ length: 8 }, (_, place) => newId("task", nowMs - place * dayMs));
    await database.query(
      "insert into requests_before (workspace_id, id) select case when id like 'req%' then 'w' else 'v' end, id from unnest($1::text[]) id",
      [ids.slice(1)],
    );
    await database.query("alter table requests_before drop constraint requests_before_end");
    await database.query(
      "insert into requests_before (workspace_id, id) select 'v', id from unnest($1::text[]) id",
      [moving],
    );
    await database.query(
      `alter table requests_before add constraint requests_before_end check (id < 'req_${end!.low}') not valid`,
    );
    // The row of a call that began before and ended after. The default part has it, and free calls wait for the sums.
    const late = newId("req", nowMs - 3_600_000);
    await insert(database, [late]);
    await database.query("insert into usage_pending (workspace_id, id) values ('w', $1)", [ids[3]]);
    expect(await foldUsage(database)).toBe(0);
    await Promise.all([
      keepParts(database, { days: undefined }),
      keepParts(database, { days: undefined }),
      insert(database, [newId("req")]),
    ]);
    await keepParts(database, { days: undefined });
    const partOfRow = await partsOfRows(database);
    const partsNow = (of: readonly string[]): Set<unknown> =>
      new Set(of.map((id) => partOfRow[id]));
    expect(partsNow([...ids.slice(1), late])).toEqual(new Set(["requests_before"]));
    expect(partsNow(moving.slice(1))).toEqual(new Set(["requests_task_before"]));
    expect(Object.keys(partOfRow)).toHaveLength(29 + 8 + 2);
    expect(await foldUsage(database)).toBe(1);
  });

  it("after a clock that ran years ahead, the real days get parts again", async () => {
    const database = await open();
    const aheadAt = (day: string) =>
      database.query(
        `select request_parts_ahead((now() at time zone 'UTC')::date ${day}, 4, false)`,
      );
    await aheadAt("+ 5000");
    await aheadAt("");
    const at = startOfDay(Date.now()) + 3 * dayMs;
    const [id, task] = [newId("req", at), newId("task", at)];
    await insert(database, [id, task]);
    const partOfRow = await partsOfRows(database);
    expect(partOfRow[id]).toBe(`requests_req_${dayName(at)}_${dayName(at + dayMs)}`);
    expect(partOfRow[task]).toMatch(/^requests_task_\d{8}_\d{8}$/);
    await aheadAt("+ 10");
    const names = (await partsOf(database)).map(({ name }) => name);
    expect(names).toContain(`requests_req_${dayName(at + 10 * dayMs)}_${dayName(at + 11 * dayMs)}`);
    // The first start was at a clock years ahead: the first part takes all rows until then.
    await aheadAt("- 5000");
    expect((await partsOf(database)).length).toBe(names.length);
  });

  it("a part that cannot be made is not tried, because a try locks the whole log", async () => {
    const database = await open();
    await insert(database, [newId("req", startOfDay(Date.now()) + 3 * dayMs)]);
    await keepParts(database, { days: 30 });
    const firstStartAhead = await open();
    const until = newId("req", Date.now() + 5000 * dayMs).slice(0, "req_".length + 10);
    await firstStartAhead.query(
      `do $$ declare v_name text; begin
         for v_name in select name from request_parts where kind = 'req' loop execute 'drop table ' || v_name; end loop;
       end $$;
       create table requests_before partition of requests for values from (minvalue) to ('${until}')`,
    );
    await keepParts(firstStartAhead, { days: 30 });
    for (const each of [database, firstStartAhead])
      await each.transaction(async (reader) => {
        await reader.query("select from requests limit 0");
        expect(await keepParts(each, { days: 30 })).toBe(0);
      });
  });

  it("parts are created ahead, by day if rows are kept for days, else by month; days end at midnight UTC", async () => {
    const database = await open();
    const today = startOfDay(Date.now());
    await Promise.all([keepParts(database, { days: 30 }), keepParts(database, { days: 30 })]);
    const names = (await partsOf(database)).map(({ name }) => name);
    for (let day = 0; day < 4; day += 1) {
      const at = today + day * dayMs;
      expect(names).toContain(`requests_req_${dayName(at)}_${dayName(at + dayMs)}`);
    }
    expect(await keepParts(database, { days: 30 })).toBe(0);
    const midnight = today + 2 * dayMs;
    const [last, first] = [newId("req", midnight - 1), newId("req", midnight)];
    await insert(database, [last, first]);
    const partOfRow = await partsOfRows(database);
    expect(partOfRow[last]).toBe(`requests_req_${dayName(midnight - dayMs)}_${dayName(midnight)}`);
    expect(partOfRow[first]).toBe(`requests_req_${dayName(midnight)}_${dayName(midnight + dayMs)}`);

    const other = await open();
    await keepParts(other, { days: undefined });
    const months = (await partsOf(other)).map(({ name }) => name);
    expect(months.some((name) => /^requests_req_\d{8}_\d{6}01$/.test(name))).toBe(true);
  });

  it("a clock that is days or years off loses no row, and the parts of other days are still created", async () => {
    const database = await open();
    const today = startOfDay(Date.now());
    const wrong = [
      newId("req", today + 3 * dayMs + 5),
      newId("req", today + 900 * dayMs),
      newId("task", 0),
      newId("req", 0),
    ];
    const log = createRequestLog(database, silentLog);
    for (const id of wrong)
      log.add({ workspaceId: "w", id, createdAt: new Date(), status: "failed" });
    await log.flush();
    await keepParts(database, { days: 30 });
    const partOfRow = await partsOfRows(database);
    expect(wrong.map((id) => partOfRow[id])).toEqual([
      "requests_default",
      "requests_default",
      "requests_task_before",
      "requests_before",
    ]);
    const names = (await partsOf(database)).map(({ name }) => name);
    expect(names).toContain(
      `requests_req_${dayName(today + 2 * dayMs)}_${dayName(today + 3 * dayMs)}`,
    );
    expect(
      names.filter((name) => name.startsWith(`requests_req_${dayName(today + 3 * dayMs)}`)),
    ).toEqual([]);
    await database.query("insert into workspaces (id, name) values ('w', 'w')");
    const { records } = await listRequests(database, { visibility: seesEverything });
    expect(records.map((record) => (record as { id: string }).id).sort()).toEqual(wrong.toSorted());
  });
});
