/** Finished tasks and deliveries go with everything that belongs to them; unfinished ones stay. */
import { expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { retentionStep, type Retention } from "../../src/retention/index.ts";
import type { Database } from "../../src/storage/index.ts";
import { describeDatabase } from "../support/postgres.ts";

const dayMs = 86_400_000;
const old = Date.now() - 40 * dayMs;

/** Inserts a task, unfinished if `endedAt` is null. */
async function task(database: Database, at: number, endedAt: number | null): Promise<string> {
  const id = newId("task", at);
  await database.query(
    `insert into tasks (workspace_id, id, key_id, kind, family, model, form, status, request, plan, reserved_nano, due_at, expires_at,
       created_at, updated_at, finished_at)
     values ('w', $1, 'k', 'image', 'f', 'm', 'unified', $2, '{}', '{}', 0, $3, now(), $4, now(), $5)`,
    [
      id,
      endedAt === null ? "running" : "succeeded",
      endedAt === null ? new Date() : null,
      new Date(at),
      endedAt === null ? null : new Date(endedAt),
    ],
  );
  return id;
}

async function delivery(
  database: Database,
  at: number,
  { taskId = null as string | null, pending = false } = {},
): Promise<string> {
  const id = newId("evt", at);
  await database.query(
    `insert into webhook_deliveries (workspace_id, id, task_id, type, url, status, due_at, created_at, updated_at)
     values ('w', $1, $2, 't', 'https://a.example', $3, $4, $5, $5)`,
    [id, taskId, pending ? "pending" : "delivered", pending ? new Date() : null, new Date(at)],
  );
  await database.query(
    "insert into webhook_attempts (workspace_id, delivery_id, attempt, started_at, duration_ms) values ('w', $1, 1, $2, 5)",
    [id, new Date(at)],
  );
  return id;
}

async function all(database: Database, sql: string): Promise<string[]> {
  const rows = await database.query<{ id: string }>(sql, []);
  return rows.map(({ id }) => id).toSorted();
}

async function run(database: Database, what: Omit<Retention, "isLogExported">): Promise<number> {
  let sum = 0;
  for (;;) {
    const deleted = await retentionStep(database, { ...what, isLogExported: false });
    if (deleted === 0) return sum;
    sum += deleted;
  }
}

describeDatabase("retention of tasks and deliveries", (open) => {
  it("finished tasks are deleted with their files and callbacks; running, held and undelivered tasks stay", async () => {
    const database = await open();
    await database.query("insert into workspaces (id, name) values ('w', 'w')");
    const finished = await Promise.all(
      Array.from({ length: 300 }, (_, place) => task(database, old + place, old + 60_000)),
    );
    const staying = {
      running: await task(database, old, null),
      endedLately: await task(database, old, Date.now() - dayMs),
      held: await task(database, old, old + 60_000),
      delivering: await task(database, old, old + 60_000),
      young: await task(database, Date.now() - dayMs, Date.now()),
    };
    await database.query(
      `insert into ledger_holds (workspace_id, id, key_id, kind, amount_nano, lease_until, created_at)
       values ('w', $1, 'k', 'task', 0, now(), now())`,
      [staying.held],
    );
    const pending = await delivery(database, old, { taskId: staying.delivering, pending: true });
    const deleted = await delivery(database, old, { taskId: finished[0]! });
    const alone = await delivery(database, old);
    await database.query(
      `insert into files (workspace_id, name, task_id, purpose, media_type, bytes, created_at, expires_at)
       select 'w', 'file-' || t, t, 'result', 'image/png', 1, now(), now() + interval '1 day' from unnest($1::text[]) t`,
      [[finished[0], staying.young]],
    );

    expect(await run(database, {})).toBe(0);
    expect(await run(database, { tasksDays: 30 })).toBe(300);
    expect(await all(database, "select id from tasks")).toEqual(Object.values(staying).toSorted());
    expect(await all(database, "select id from webhook_deliveries")).toEqual(
      [pending, alone].toSorted(),
    );
    expect(await all(database, "select delivery_id as id from webhook_attempts")).toEqual(
      [pending, alone].toSorted(),
    );
    // The sweep of files removes it from here on, bytes first.
    expect(
      await all(database, "select task_id as id from files where expires_at <= now()"),
    ).toEqual([finished[0]]);

    expect(await run(database, { deliveriesDays: 30 })).toBe(1);
    expect(await all(database, "select id from webhook_deliveries")).toEqual([pending]);
    expect(deleted).not.toBe(alone);
    expect(await run(database, { tasksDays: 30, deliveriesDays: 30 })).toBe(0);
  });
});
