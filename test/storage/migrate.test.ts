/** The schema is refused if this version cannot run on it. The key of a workspace's tables begins with the workspace. */
import { expect, it } from "vitest";
import { migrate, SchemaError, schemaState } from "../../src/storage/index.ts";
import { describeDatabase } from "../support/postgres.ts";

describeDatabase("migrate", (open) => {
  it("runs on a schema that a newer version has expanded, and refuses one that it is too old for", async () => {
    const database = await open();
    const add = (name: string, from: string | null) =>
      database.query(
        "insert into schema_migrations (name, checksum, compatible_from) values ($1, 'x', $2)",
        [name, from],
      );
    await add("9997_expands.sql", null);
    expect(await migrate(database)).toEqual({ applied: [] });
    // A migration that removes objects which earlier versions had stopped using.
    await add("9998_contracts.sql", "0002_ledger.sql");
    expect(await migrate(database)).toEqual({ applied: [] });
    expect(await schemaState(database)).toMatchObject({
      missing: [],
      newer: ["9997_expands.sql", "9998_contracts.sql"],
    });
    await add("9999_future.sql", "9997_expands.sql");
    await expect(migrate(database)).rejects.toThrow(SchemaError);
    await expect(migrate(database)).rejects.toThrow(
      /newer version of Tollgate \(9999_future\.sql, which needs a version that knows 9997_expands\.sql\); this one knows migrations up to \d{4}_/,
    );
    await expect(schemaState(database)).rejects.toThrow(SchemaError);
  });

  it("refuses an unknown migration that is numbered among its own", async () => {
    const database = await open();
    await database.query(
      "insert into schema_migrations (name, checksum) values ('0009_strange.sql', 'x')",
    );
    await expect(migrate(database)).rejects.toThrow(/0009_strange\.sql/);
  });

  it("adds the compatibility column to a database that lacks it", async () => {
    const database = await open();
    await database.query("alter table schema_migrations drop column compatible_from");
    expect(await schemaState(database)).toMatchObject({ missing: [], newer: [] });
    expect(await migrate(database)).toEqual({ applied: [] });
    expect(await database.query("select compatible_from from schema_migrations limit 1")).toEqual([
      { compatible_from: null },
    ]);
  });

  it("refuses an applied migration that was edited", async () => {
    const database = await open();
    await database.query("update schema_migrations set checksum = 'other' where name like '0001%'");
    await expect(migrate(database)).rejects.toThrow(
      /0001_tenancy\.sql is not the one that was applied/,
    );
  });

  it("puts workspace_id first in the key of every table that belongs to a workspace", async () => {
    const database = await open();
    const rows = await database.query<{ table: string; first: string }>(
      `select c.relname as table, a.attname as first
       from pg_index i
       join pg_class c on c.oid = i.indrelid
       join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
       where i.indisprimary and c.relnamespace = 'public'::regnamespace
         and exists (select from pg_attribute w where w.attrelid = c.oid and w.attname = 'workspace_id')`,
      [],
    );
    expect(rows.length).toBeGreaterThanOrEqual(6);
    expect(rows.filter((row) => row.first !== "workspace_id")).toEqual([]);
  });
});
