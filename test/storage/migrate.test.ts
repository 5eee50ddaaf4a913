/** The schema: refused where this version cannot run on it; the key of a workspace's tables begins with it. */
import { expect, it } from "vitest";
import { migrate, SchemaError } from "../../src/storage/index.ts";
import { describeDatabase } from "../support/postgres.ts";

describeDatabase("migrate", (open) => {
  it("refuses a schema that a newer version has changed, and names it", async () => {
    const database = await open();
    await database.query(
      "insert into schema_migrations (name, checksum) values ('9999_future.sql', 'x')",
    );
    await expect(migrate(database)).rejects.toThrow(SchemaError);
    await expect(migrate(database)).rejects.toThrow(
      /newer version of Tollgate \(9999_future\.sql\)/,
    );
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
