/** The database that a restore without `--replace` needs: unused by any gateway, and without tables of other programs. docs/data.md. */
import { counted } from "../base/counted.ts";
import { applyMigrations, prepareMigrations, type Queryable } from "../storage/index.ts";
import { BackupError } from "./frames.ts";
import { dropSchemaObjects, tablesOf } from "./schema.ts";

/** Rows that a new database does not have. A first start writes no entry to the audit log. */
const uses = [
  ["ledger_entries", "kind <> 'credit'"],
  ["tasks", "true"],
  ["audit_entries", "true"],
] as const;

/**
 * Returns the names of all tables and views in the schema.
 * @throws BackupError for a database in which calls were charged, tasks made, or keys, members or settings changed
 */
export async function requireUnusedDatabase(tx: Queryable): Promise<string[]> {
  const tables = await tablesOf(tx);
  const asked = uses.filter(([table]) => tables.includes(table));
  if (asked.length === 0) return relationsOf(tx);
  const any = asked.map(([table, which]) => `exists (select 1 from ${table} where ${which})`);
  const [row] = await tx.query<{ used: boolean }>(`select ${any.join(" or ")} as used`, []);
  if (row?.used !== true) return relationsOf(tx);
  throw new BackupError(
    "the database already holds calls, tasks, or keys and settings that somebody made; --replace deletes everything in it and restores the backup",
  );
}

/** The names of tables and views in the schema, except those of extensions. */
async function relationsOf(tx: Queryable): Promise<string[]> {
  const rows = await tx.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = current_schema()::regnamespace and not relispartition
       and relkind in ('r', 'p', 'v', 'm') and oid not in (select objid from pg_depend where deptype = 'e') order by relname`,
    [],
  );
  return rows.map(({ name }) => name);
}

const namesMax = 5;

/**
 * Refuses tables and views that are not of our schema: a restore drops everything in it. Only a schema made anew shows which are ours.
 * @param found the names before the restore; its transaction has locked the tables
 * @throws BackupError
 */
export async function refuseForeign(tx: Queryable, found: readonly string[]): Promise<void> {
  if (found.length === 0) return;
  await tx.query("savepoint found");
  await dropSchemaObjects(tx);
  await prepareMigrations(tx);
  await applyMigrations(tx);
  const own = await relationsOf(tx);
  await tx.query("rollback to savepoint found");
  const foreign = found.filter((name) => !own.includes(name));
  if (foreign.length === 0) return;
  const names = foreign.slice(0, namesMax).join(", ") + (foreign.length > namesMax ? ", ..." : "");
  throw new BackupError(
    `the database holds ${counted(foreign.length, "table or view", "tables or views")} of something else (${names}): ` +
      "name another database in DATABASE_URL; --replace deletes them too",
  );
}
