/** The statements of docs/scale.md about the schema's keys, for operators who distribute it over several databases. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { describeDatabase } from "../support/postgres.ts";

const page = readFileSync(new URL("../../docs/scale.md", import.meta.url), "utf8");
/** The names in the first column of the table below a heading. */
const namesAfter = (heading: string): string[] => {
  const section = page.split(`### ${heading}\n`)[1]?.split(/\n#+ /)[0] ?? "";
  return [...section.matchAll(/^\| `([^|]+)` +\|/gm)]
    .flatMap(([, cell]) => cell!.split("`, `"))
    .sort();
};

describeDatabase("the schema, as docs/scale.md has it", (open) => {
  it("lists every table whose key does not begin with the workspace", async () => {
    const database = await open();
    const rows = await database.query<{ name: string }>(
      `select c.relname as name from pg_class c
       left join pg_index i on i.indrelid = c.oid and i.indisprimary
       left join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
       where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
         and a.attname is distinct from 'workspace_id'`,
    );
    expect(namesAfter("Tables that do not begin with a workspace")).toEqual(
      rows.map(({ name }) => name).sort(),
    );
  });

  it("lists every unique index across workspaces in tables whose key begins with the workspace", async () => {
    const database = await open();
    const rows = await database.query<{ name: string }>(
      `select x.relname as name from pg_index u join pg_class x on x.oid = u.indexrelid join pg_class c on c.oid = u.indrelid
       join pg_index p on p.indrelid = c.oid and p.indisprimary
       join pg_attribute k on k.attrelid = c.oid and k.attnum = p.indkey[0] and k.attname = 'workspace_id'
       where u.indisunique and not u.indisprimary and c.relnamespace = 'public'::regnamespace and not c.relispartition
         and not exists (select from pg_attribute a where a.attrelid = c.oid and a.attnum = any(u.indkey) and a.attname = 'workspace_id')`,
    );
    expect(namesAfter("Rules over all workspaces")).toEqual(rows.map(({ name }) => name).sort());
  });
});
