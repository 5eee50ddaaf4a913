/** A restore over a database that gateways use: their transactions and the restore lock the same tables in different orders. */
import { Readable } from "node:stream";
import { Client } from "pg";
import { expect, it, onTestFinished } from "vitest";
import { restoreBackup } from "../../src/backup/index.ts";
import { openDatabase, type Database } from "../../src/storage/index.ts";
import { eventually } from "../support/patience.ts";
import { sharedPostgres, silentLog } from "../support/postgres.ts";
import { backupOf } from "./bytes.ts";

const nothing = (): void => undefined;

/**
 * Begins a transaction like that of a call, which has read a table and goes on. Its deadlock timeout is so long that the server
 * never aborts it in place of the restore.
 */
async function beginWith(url: string, table: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query("set deadlock_timeout = '10min'; begin");
  await client.query(`select from ${table}`);
  return client;
}

const isWaitedFor = async (database: Database, table: string): Promise<boolean> => {
  const found = await database.query(
    "select from pg_locks where relation = to_regclass($1) and not granted",
    [table],
  );
  return found.length > 0;
};

it("a restore waits for transactions that lock tables in another order; neither fails", async () => {
  const url = await (await sharedPostgres()).createMigrated();
  const database = await openDatabase({ url, log: silentLog });
  onTestFinished(() => database.close());
  const source = Readable.from([await backupOf(database)]);
  const first = await beginWith(url, "files");
  const second = await beginWith(url, "usage_tags");

  const check = (): Promise<void> => Promise.resolve();
  const restoring = restoreBackup({ database, source, replace: true, check, progress: nothing });
  restoring.catch(nothing);
  await eventually(() => isWaitedFor(database, "files"), "the restore waits for the first");
  let isRead = false;
  const reading = second.query("select from audit_entries").then(async () => {
    isRead = true;
    await second.query("commit");
  });
  await eventually(
    async () => isRead || (await isWaitedFor(database, "audit_entries")),
    "the second wants a table that the restore has",
  );
  await first.query("commit");
  const [read, restored] = await Promise.allSettled([reading, restoring]);
  expect([read, restored]).toMatchObject([{ status: "fulfilled" }, { status: "fulfilled" }]);
});
