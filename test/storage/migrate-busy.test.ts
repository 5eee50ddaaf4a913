/** A migration while a long report reads a table: the migration waits, and no call waits behind it. CONTRIBUTING.md "Migrations". */
import { Client } from "pg";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { knownMigrations, migrate, openDatabase, type Database } from "../../src/storage/index.ts";
import { applyMigrations, prepareMigrations } from "../../src/storage/migrate.ts";
import { eventually } from "../support/patience.ts";
import { sharedPostgres, silentLog } from "../support/postgres.ts";

const missing = "0054_kept_prices.sql";
let url: string;
let database: Database;
async function openBefore(name: string): Promise<Database> {
  url = await (await sharedPostgres()).createDatabase();
  const opened = await openDatabase({ url, log: silentLog });
  const names = knownMigrations().map((one) => one.name);
  await opened.transaction(async (tx) => {
    await prepareMigrations(tx);
    await applyMigrations(tx, new Set(names.filter((one) => one < name)));
  });
  return opened;
}
beforeAll(async () => {
  database = await openBefore(missing);
});
afterAll(() => database.close());

/** Begins a transaction that has read the request log, and stays open. */
async function startReport(): Promise<{ readonly pid: number; end(): Promise<void> }> {
  const client = new Client({ connectionString: url, application_name: "report" });
  await client.connect();
  await client.query("begin");
  await client.query("select count(*) from requests");
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  let ended: Promise<void> | undefined;
  const end = () => (ended ??= client.end());
  onTestFinished(end);
  return { pid: rows[0]!.pid, end };
}

const waitingSql =
  "select 1 from pg_locks where not granted and mode = 'AccessExclusiveLock' and database = (select oid from pg_database where datname = current_database())";

it("while a report blocks a migration, calls go on and the log names the report; the migration runs once it ends", async () => {
  const report = await startReport();
  const warnings: [object, string][] = [];
  const migrated = migrate(database, {
    warn: (fields: object, message: string) => void warnings.push([fields, message]),
  });
  await eventually(
    async () => (await database.query(waitingSql)).length > 0,
    "the migration to wait",
  );
  // Like a call that writes its row.
  await database.query("select 1 from requests limit 1");
  await eventually(() => warnings.length > 0, "a word in the log");
  expect(warnings).toEqual([
    [
      {
        oldest_transaction: {
          pid: report.pid,
          application: "report",
          seconds: expect.any(Number),
        },
        fix: expect.stringContaining(`pg_terminate_backend(${report.pid})`),
      },
      "the schema cannot be changed yet: a table is in use",
    ],
  ]);
  await report.end();
  expect((await migrated).applied).toContain(missing);
});

/** The statements of a call: the first, which the migration waits for, and those after it. */
const calls: Readonly<Record<string, readonly [string, ...string[]]>> = {
  // As the end of a task: its row, then the account, then the entry.
  "a task that ends": [
    "update tasks set misses = 1",
    "select 1 from ledger_accounts for update",
    `insert into ledger_entries (workspace_id, reference, kind, amount_nano, held_nano, balance_after_nano, created_at)
     values ('w', 'r', 'credit', 1, 0, 1, now())`,
  ],
  "a task that is submitted": [
    `insert into idempotency_keys (workspace_id, key, fingerprint, task_id, created_at) values ('w', 'k', 'f', 't', now())`,
    "update tasks set misses = 1",
    "select 1 from ledger_accounts for update",
    `insert into ledger_holds (workspace_id, id, key_id, kind, amount_nano, lease_until, created_at)
     values ('w', 't', 'k', 'task', 1, now(), now())`,
  ],
};

it.each(Object.keys(calls))(
  "a migration takes tables in the order in which calls do: %s meanwhile is not in a deadlock with it",
  async (name) => {
    const busy = await openBefore("0058_ledger_constraints.sql");
    onTestFinished(() => busy.close());
    const call = new Client({ connectionString: url });
    await call.connect();
    onTestFinished(() => call.end());
    const [first, ...others] = calls[name]!;
    await call.query("begin; set local lock_timeout = '200ms'");
    await call.query(first);
    const migrated = migrate(busy);
    await eventually(
      async () => (await busy.query(waitingSql)).length > 0,
      "the migration to wait",
    );
    for (const sql of others) await call.query(sql);
    await call.query("commit");
    const { applied } = await migrated;
    expect(applied).toEqual(
      expect.arrayContaining(["0058_ledger_constraints.sql", "0059_final_states.sql"]),
    );
  },
);
