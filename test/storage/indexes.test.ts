/** Indexes that are built while calls run: once, completely, by one process, and without blocking writers. docs/architecture.md. */
import { expect, it } from "vitest";
import { laterIndexes, makeIndexes } from "../../src/storage/indexes.ts";
import { openDatabase, type Database } from "../../src/storage/index.ts";
import { listTasks } from "../../src/tasks/read.ts";
import { eventually } from "../support/patience.ts";
import { describeDatabase, sharedPostgres, silentLog } from "../support/postgres.ts";

const names = Object.keys(laterIndexes);

const validIndexes = async (database: Database): Promise<string[]> => {
  const rows = await database.query<{ name: string }>(
    `select c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid
     where c.relname = any($1) and i.indisvalid order by 1`,
    [names],
  );
  return rows.map(({ name }) => name);
};

const addTasks = (database: Database, count: number, model: string) =>
  database.query(
    `insert into tasks (workspace_id, id, key_id, kind, family, model, form, status, request, plan, reserved_nano, expires_at, created_at, updated_at)
     select 'w1', 'task_' || $2 || lpad(g::text, 8, '0'), 'k1', 'video', 'video-tokens', $2, 'native', 'succeeded', '{}', '{}', 1, now(), now(), now()
     from generate_series(1, $1::integer) g`,
    [count, model],
  );

describeDatabase("indexes of large tables", (open) => {
  it("are built once, and an invalid one is built again", async () => {
    const database = await open();
    expect(await makeIndexes(database)).toEqual(names);
    expect([await validIndexes(database), await makeIndexes(database)]).toEqual([
      names.toSorted(),
      [],
    ]);
    await database.query(
      "update pg_index set indisvalid = false where indexrelid = 'tasks_by_model'::regclass",
    );
    expect(await validIndexes(database)).not.toContain("tasks_by_model");
    expect(await makeIndexes(database)).toEqual(["tasks_by_model"]);
    expect(await validIndexes(database)).toEqual(names.toSorted());
  });

  it("find tasks of a rare model without reading those of other models", async () => {
    const database = await open();
    await makeIndexes(database);
    await addTasks(database, 3_000, "acme/often");
    await addTasks(database, 2, "acme/rare");
    await database.query("analyze tasks");
    const plans: string[] = [];
    const watched: Database = {
      ...database,
      query: async (sql, params) => {
        const rows = await database.query<{ "QUERY PLAN": string }>(
          `explain (analyze, costs off, timing off) ${sql}`,
          params,
        );
        plans.push(rows.map((row) => row["QUERY PLAN"]).join("\n"));
        return database.query(sql, params);
      },
    };
    for (const model of ["acme/rare", "acme/none"]) {
      const { tasks } = await listTasks(watched, "w1", { model });
      expect(tasks).toHaveLength(model === "acme/rare" ? 2 : 0);
    }
    for (const plan of plans) {
      expect(plan).toContain("tasks_by_model");
      expect(plan).not.toContain("Rows Removed");
    }
  });
});

it("indexes are built while others write, by one of two processes, and a gateway that stops does not wait for them", async () => {
  const url = await (await sharedPostgres()).createMigrated();
  const [one, two] = [
    await openDatabase({ url, log: silentLog }),
    await openDatabase({ url, log: silentLog }),
  ];
  const { promise: held, resolve: end } = Promise.withResolvers<void>();
  // A transaction that has written and stays open, which the index build waits for.
  const writing = one.transaction(
    async (tx) => {
      await tx.query("update tasks set updated_at = now() where id = 'none'");
      await tx.query("insert into workspaces (id, name) values ('w9', 'w')");
      await tx.query("lock table tasks in row exclusive mode");
      await held;
    },
    { msMax: 30_000 },
  );
  const building = () =>
    two.query("select from pg_stat_progress_create_index where datname = current_database()", []);
  await eventually(
    async () =>
      (
        await two.query(
          "select from pg_locks where relation = 'tasks'::regclass and mode = 'RowExclusiveLock'",
          [],
        )
      ).length > 0
        ? true
        : undefined,
    "the writer",
  );
  let isRunning = true;
  const made = makeIndexes(one, () => isRunning);
  await eventually(async () => ((await building()).length > 0 ? true : undefined), "the building");
  // Another gateway writes meanwhile, and builds nothing.
  await addTasks(two, 1, "acme/clip");
  expect(await makeIndexes(two)).toEqual([]);
  isRunning = false;
  expect(await made).toEqual([]);
  end();
  await writing;
  // The server finishes the build by itself.
  await eventually(
    async () => ((await validIndexes(two)).includes("tasks_by_model") ? true : undefined),
    "the index",
  );
  await Promise.all([one.close(), two.close()]);
});
