/**
 * Brings the schema up to date: the numbered files of ./migrations, each applied once, in order.
 * Safe when several processes start together; refuses a database that a newer version has already changed.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import type { Database } from "./database.ts";
import type { Queryable } from "./queryable.ts";

const directory = new URL("./migrations/", import.meta.url);
/** Any number that nothing else in the database locks. */
const lockKey = 7_409_318_200_417n;

interface Migration {
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

function readMigrations(): Migration[] {
  const names = readdirSync(directory).filter((name) => /^\d{4}_[a-z0-9_-]+\.sql$/.test(name));
  return names.sort().map((name) => {
    // A checkout may have changed the line ends; the statements are the same.
    const sql = readFileSync(new URL(name, directory), "utf8").replaceAll("\r\n", "\n");
    return { name, sql, checksum: createHash("sha256").update(sql).digest("hex") };
  });
}

/** The schema in the database is not one this version can run on. */
export class SchemaError extends Error {
  override name = "SchemaError";
}

function check(done: ReadonlyMap<string, string>, known: readonly Migration[]): void {
  const names = new Set(known.map((migration) => migration.name));
  const unknown = [...done.keys()].filter((name) => !names.has(name));
  if (unknown.length > 0) {
    throw new SchemaError(
      `The database was changed by a newer version of Tollgate (${unknown.join(", ")}). ` +
        "Run that version, or restore a backup from before it.",
    );
  }
  for (const { name, checksum } of known) {
    const recorded = done.get(name);
    if (recorded !== undefined && recorded !== checksum) {
      throw new SchemaError(
        `The migration ${name} is not the one that was applied to this database. ` +
          "An applied migration must not be edited; add a new one instead.",
      );
    }
  }
}

/** Makes the table of what was applied, and keeps other processes from changing the schema until the transaction's end. */
export async function prepareMigrations(tx: Queryable): Promise<void> {
  // A large table may take longer than an ordinary statement is given; so may waiting for another process.
  await tx.query("set local statement_timeout = 0");
  await tx.query("select pg_advisory_xact_lock($1)", [lockKey]);
  await tx.query(
    `create table if not exists schema_migrations (
       name text primary key,
       checksum text not null,
       applied_at timestamptz not null default now()
     )`,
  );
}

/** All migrations of this version, in order. */
export const knownMigrations = (): readonly Migration[] => readMigrations();

/**
 * Applies what is missing, as far as `wanted` names it (absent: all); returns the names.
 * @throws SchemaError when the schema is newer than this version, or an applied file was edited
 */
export async function applyMigrations(
  tx: Queryable,
  wanted?: ReadonlySet<string>,
): Promise<string[]> {
  const known = readMigrations();
  const rows = await tx.query<{ name: string; checksum: string }>(
    "select name, checksum from schema_migrations order by name",
  );
  const done = new Map(rows.map((row) => [row.name, row.checksum]));
  check(done, known);
  const missing = known.filter(({ name }) => !done.has(name) && wanted?.has(name) !== false);
  for (const { name, sql, checksum } of missing) {
    await tx.query(sql);
    await tx.query("insert into schema_migrations (name, checksum) values ($1, $2)", [
      name,
      checksum,
    ]);
  }
  return missing.map(({ name }) => name);
}

/**
 * Applies what is missing, all in one transaction; returns the names of what it applied.
 * @throws SchemaError when the schema is newer than this version, or an applied file was edited
 */
export function migrate(database: Database): Promise<{ applied: string[] }> {
  return database.transaction(async (tx) => {
    await prepareMigrations(tx);
    return { applied: await applyMigrations(tx) };
  });
}

/** How a database's schema stands to this version's, without changing it. @throws SchemaError as `migrate` does */
export async function schemaState(
  database: Queryable,
): Promise<{ readonly last: string; readonly missing: readonly string[] }> {
  const known = readMigrations();
  const [table] = await database.query<{ is_there: boolean }>(
    "select to_regclass('schema_migrations') is not null as is_there",
  );
  const rows = table?.is_there
    ? await database.query<{ name: string; checksum: string }>(
        "select name, checksum from schema_migrations",
      )
    : [];
  const done = new Map(rows.map((row) => [row.name, row.checksum]));
  check(done, known);
  const names = known.map(({ name }) => name);
  return { last: names.at(-1) ?? "", missing: names.filter((name) => !done.has(name)) };
}
