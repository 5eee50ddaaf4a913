/** Backups of older schemas: one from the baseline on is restored and brought up to date, one from before it is refused. */
import { PassThrough, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { expect, it } from "vitest";
import { carryOver, restoreBackup, writeBackup } from "../../src/backup/index.ts";
import { replaced } from "../../src/storage/baseline.ts";
import {
  applyMigrations,
  openDatabase,
  prepareMigrations,
  type Database,
} from "../../src/storage/index.ts";
import { catalogueOf } from "../storage/catalogue.ts";
import { describeDatabase, sharedPostgres, silentLog } from "../support/postgres.ts";

const nothing = (): void => undefined;

async function backupOf(database: Database): Promise<Buffer> {
  const destination = new PassThrough();
  const bytes = buffer(destination);
  await writeBackup({ database, files: undefined, destination, version: "0", progress: nothing });
  return bytes;
}

const restoreInto = (database: Database, bytes: Buffer) =>
  restoreBackup({
    database,
    source: Readable.from([bytes]),
    replace: false,
    check: () => Promise.resolve(),
    progress: nothing,
  });

describeDatabase("backups of older schemas", (open) => {
  it("one at the baseline gets the migrations after it, with its rows", async () => {
    const url = await (await sharedPostgres()).createDatabase();
    const older = await openDatabase({ url, log: silentLog });
    await older.transaction(async (tx) => {
      await prepareMigrations(tx);
      await applyMigrations(tx, new Set(replaced.map(({ name }) => name)));
    });
    await older.query("insert into workspaces (id, name) values ('w', 'Kept')");
    const bytes = await backupOf(older);
    await older.close();
    const target = await open();
    const before = await catalogueOf(target);
    await restoreInto(target, bytes);
    expect(await catalogueOf(target)).toEqual(before);
    expect(await target.query("select id, name from workspaces")).toEqual([
      { id: "w", name: "Kept" },
    ]);
  });

  it("one from before the baseline is refused, and the database is as it was; the same for an older embedded one", async () => {
    const older = await open();
    await older.query("delete from schema_migrations where name = '0041_request_tags.sql'");
    const bytes = await backupOf(older);
    const target = await open();
    await target.query("insert into workspaces (id, name) values ('mine', 'Mine')");
    await expect(restoreInto(target, bytes)).rejects.toThrow(
      /^the backup's schema is too old for this version: it lacks 0041_request_tags\.sql\. Restore it with Tollgate at commit \w{7}/,
    );
    await expect(carryOver(older, target)).rejects.toThrow(
      /^The database's schema is too old for this version: it lacks 0041_request_tags\.sql\./,
    );
    expect(await target.query("select id from workspaces")).toEqual([{ id: "mine" }]);
  });
});
