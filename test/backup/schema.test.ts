/** Backups of older schemas: one from the baseline on is restored and brought up to date, one from before it is refused. */
import { Readable } from "node:stream";
import { expect, it, onTestFinished } from "vitest";
import { carryOver, restoreBackup } from "../../src/backup/index.ts";
import { readFrames } from "../../src/backup/frames.ts";
import { replaced } from "../../src/storage/baseline.ts";
import {
  applyMigrations,
  openDatabase,
  prepareMigrations,
  type Database,
} from "../../src/storage/index.ts";
import { catalogueOf } from "../storage/catalogue.ts";
import { describeDatabase, sharedPostgres, silentLog } from "../support/postgres.ts";
import { backupOf } from "./bytes.ts";

const nothing = (): void => undefined;

/** The bytes of the largest frame of rows. */
async function largestOf(bytes: Buffer): Promise<number> {
  let largest = 0;
  for await (const { kind, payload } of readFrames(Readable.from([bytes])))
    if (kind === "R") largest = Math.max(largest, payload.length);
  return largest;
}

const restoreInto = (database: Database, bytes: Buffer, replace = false) =>
  restoreBackup({
    database,
    source: Readable.from([bytes]),
    replace,
    check: () => Promise.resolve(),
    progress: nothing,
  });

describeDatabase("a table with small rows and large ones", (open) => {
  it("T86: is backed up and restored with only a few of its rows in memory", async () => {
    const database = await open();
    await database.query(
      `insert into request_bodies (workspace_id, id, sealed)
       select 'w', 'req_' || i, case when i <= 6000 then '' else repeat('x', 200_000)::bytea end
       from generate_series(1, 6100) i`,
    );
    const bytes = await backupOf(database);
    expect(await largestOf(bytes)).toBeLessThan(2 * 2 ** 20);
    const target = await open();
    await restoreInto(target, bytes);
    const [row] = await target.query<{ rows: bigint; bytes: bigint }>(
      "select count(*) as rows, sum(length(sealed)) as bytes from request_bodies",
    );
    expect([row!.rows, Number(row!.bytes)]).toEqual([6100n, 20_000_000]);
  });
});

describeDatabase("backups of older schemas", (open) => {
  it("from the baseline on get the later migrations, with their rows", async () => {
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

  it("from before the baseline are refused and change nothing; the same for an older embedded database", async () => {
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

describeDatabase("tables of something else", (open) => {
  it.each([
    ["alone", "createDatabase"],
    ["beside our unused schema", "createMigrated"],
  ] as const)("%s are refused without --replace, and stay", async (_, how) => {
    const source = await open();
    await source.query("insert into workspaces (id, name) values ('w', 'Kept')");
    const bytes = await backupOf(source);
    const target = await openDatabase({
      url: await (await sharedPostgres())[how](),
      log: silentLog,
    });
    onTestFinished(() => target.close());
    await target.query("create table notes (text text); insert into notes values ('mine')");
    await target.query("create view short_notes as select left(text, 9) as text from notes");
    await expect(restoreInto(target, bytes)).rejects.toThrow(
      "the database holds 2 tables or views of something else (notes, short_notes): " +
        "name another database in DATABASE_URL; --replace deletes them too",
    );
    expect(await target.query("select text from short_notes")).toEqual([{ text: "mine" }]);
    await restoreInto(target, bytes, true);
    expect(await target.query("select id from workspaces")).toEqual([{ id: "w" }]);
    expect(await target.query("select to_regclass('notes') as notes")).toEqual([{ notes: null }]);
  });
});
