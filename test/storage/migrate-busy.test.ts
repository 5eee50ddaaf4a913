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

it("a migration takes the tables of the ledger in the order in which calls do: a task that ends meanwhile is not in a deadlock with it", async () => {
  const busy = await openBefore("0058_ledger_constraints.sql");
  onTestFinished(() => busy.close());
  const call = new Client({ connectionString: url });
  await call.connect();
  onTestFinished(() => call.end());
  // As the end of a task: its row, then the account, then the entry.
  await call.query("begin; set local lock_timeout = '200ms'; update tasks set misses = 1");
  const migrated = migrate(busy);
  await eventually(async () => (await busy.query(waitingSql)).length > 0, "the migration to wait");
  await call.query("select 1 from ledger_accounts for update");
  await call.query(
    `insert into ledger_entries (workspace_id, reference, kind, amount_nano, held_nano, balance_after_nano, created_at)
     values ('w', 'r', 'credit', 1, 0, 1, now())`,
  );
  await call.query("commit");
  expect((await migrated).applied).toContain("0058_ledger_constraints.sql");
});
