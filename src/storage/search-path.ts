/**
 * Where the `search_path` of a user or a database leads. A path that leads past our tables would make an empty second set of them:
 * without keys, credit and ledger. docs/database.md.
 */
import type { Queryable } from "./queryable.ts";

/** Our tables in another schema, made by this user. A path in the address itself (`options`) is set on purpose. */
const lookSql = `
  select current_schema() as here, (
    select n.nspname from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relname = 'schema_migrations' and n.nspname <> current_schema() and pg_has_role(c.relowner, 'usage')
      and exists (select from pg_class a where a.relnamespace = n.oid and a.relname = 'ledger_accounts')
      and not exists (select from pg_class o where o.relnamespace = current_schema()::regnamespace and o.relname = c.relname)
      and (select source from pg_settings where name = 'search_path') <> 'client'
    order by 1 limit 1) as elsewhere`;

interface Found {
  readonly here: string | null;
  readonly elsewhere: string | null;
}

/** Returns what is wrong with the search_path and how to fix it; undefined if it leads to our tables, or none are there yet. */
export async function wrongSearchPath(
  database: Queryable,
): Promise<{ readonly problem: string; readonly fix: string } | undefined> {
  const [row] = await database.query<Found>(lookSql);
  const { here, elsewhere } = row!;
  const set = (schema: string): string =>
    `ALTER ROLE ... SET search_path = ${schema}, or ALTER DATABASE ... if it is set there.`;
  if (here === null)
    return {
      problem: "The search_path of this user names no schema that exists and that it may use.",
      fix: `Name one: ${set("public")}`,
    };
  if (elsewhere === null) return undefined;
  return {
    problem: `The tables of Tollgate are in the schema "${elsewhere}", but the search_path of this user leads to "${here}". Nothing was changed.`,
    fix: `Put their schema first: ${set(`"${elsewhere}"`)}`,
  };
}
