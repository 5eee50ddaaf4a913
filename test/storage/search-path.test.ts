/**
 * A `search_path` of the database or the user that leads past the gateway's tables. A start would make a second, empty set of
 * tables: without keys, credit and ledger. docs/database.md.
 */
import { PassThrough } from "node:stream";
import { Client } from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { writeBackup } from "../../src/backup/index.ts";
import { silentLog } from "../../src/base/log.ts";
import { migrate, openDatabase, schemaState, type Database } from "../../src/storage/index.ts";
import { sharedPostgres } from "../support/postgres.ts";

/** Sets the path of a new database, and opens it. */
async function openWithPath(path: string, isMigrated: boolean, options = "") {
  const postgres = await sharedPostgres();
  const url = await (isMigrated ? postgres.createMigrated() : postgres.createDatabase());
  const operator = new Client({ connectionString: url });
  await operator.connect();
  onTestFinished(() => operator.end());
  await operator.query("create schema other");
  await operator.query(
    `alter database ${new URL(url).pathname.slice(1)} set search_path = ${path}`,
  );
  const database = await openDatabase({ url: url + options, log: silentLog });
  onTestFinished(() => database.close());
  const tables = async () =>
    (
      await operator.query<{ schema: string }>(
        `select distinct relnamespace::regnamespace::text as schema from pg_class
         where relkind in ('r', 'p') and relname = 'schema_migrations'`,
      )
    ).rows.map(({ schema }) => schema);
  return { database, tables };
}

const backUp = (database: Database) =>
  writeBackup({
    database,
    files: undefined,
    destination: new PassThrough().resume(),
    version: "0",
    progress: () => undefined,
  });

describe("a search_path that leads past the tables", () => {
  it.each(["other", "other, public"])(
    "%s: refuses start, doctor and backup, which name both schemas, and makes no tables",
    async (path) => {
      const { database, tables } = await openWithPath(path, true);
      for (const attempt of [migrate, schemaState, backUp])
        await expect(attempt(database)).rejects.toThrow(
          /are in the schema "public", but .* leads to "other".*SET search_path = "public"/,
        );
      expect(await tables()).toEqual(["public"]);
    },
  );

  it("is refused with advice if no schema of it exists", async () => {
    const { database } = await openWithPath("missing", false);
    for (const attempt of [migrate, schemaState, backUp])
      await expect(attempt(database)).rejects.toThrow(
        /names no schema that exists.*SET search_path/,
      );
  });

  it("is followed in an empty database, and if the address itself sets it", async () => {
    const first = await openWithPath("other", false);
    expect((await migrate(first.database)).applied).toContain("baseline");
    expect(await first.tables()).toEqual(["other"]);
    expect(await schemaState(first.database)).toMatchObject({ missing: [] });
    const second = await openWithPath("public", true, "?options=-c%20search_path%3Dother");
    expect((await migrate(second.database)).applied).toContain("baseline");
    expect((await second.tables()).toSorted()).toEqual(["other", "public"]);
  });

  it("does not make a backup empty: an address without tables in its first schema is refused", async () => {
    const { database } = await openWithPath(
      "public",
      true,
      "?options=-c%20search_path%3Dother,public",
    );
    await expect(backUp(database)).rejects.toThrow("The database has no tables of Tollgate.");
  });
});
