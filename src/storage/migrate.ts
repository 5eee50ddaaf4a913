/**
 * Brings the schema up to date: applies the baseline to an empty database, then the numbered files of ./migrations, each once, in order.
 * All in one transaction, so that an interrupted start changes nothing. Safe when several processes start together.
 * A schema that a newer version has changed is refused only if one of its migrations says that it left this version behind: `-- contracts
 * after: NAME` (CONTRIBUTING.md "Migrations").
 */
import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import {
  baselineName,
  baselineState,
  olderSchema,
  readBaseline,
  readSql,
  replaced,
  type BaselineState,
  type Recorded,
} from "./baseline.ts";
import type { Log } from "../base/log.ts";
import { ownFile } from "../base/own-files.ts";
import type { Database } from "./database.ts";
import { limitLockWaits, lockInOrder, retryWhileLocked } from "./retry-while-locked.ts";
import type { Queryable } from "./queryable.ts";
import { wrongSearchPath } from "./search-path.ts";
import { encodingFix, wrongEncoding } from "./text-encoding.ts";
import { orderFix, readTextOrder, wrongOrder } from "./text-order.ts";

const directory = ownFile("src/storage/migrations/");
/** Any number that nothing else in the database locks. */
const lockKey = 7_409_318_200_417n;

interface Migration extends Recorded {
  readonly sql: string;
  /** The last migration that a version must know to run on the schema after this one; null: any version does. */
  readonly compatibleFrom: string | null;
}

/** Returns the last migration that a version must know to run after this one, from the migration's text. */
export const compatibleFromOf = (sql: string): string | null =>
  /^-- contracts after: (\S+)$/m.exec(sql)?.[1] ?? null;

function readMigrations(): Migration[] {
  const names = readdirSync(directory).filter((name) => /^\d{4}_[a-z0-9_-]+\.sql$/.test(name));
  return names.sort().map((name) => {
    const sql = readSql(new URL(name, directory));
    return {
      name,
      sql,
      checksum: createHash("sha256").update(sql).digest("hex"),
      compatibleFrom: compatibleFromOf(sql),
    };
  });
}

/** The schema in the database is not one this version can run on. */
export class SchemaError extends Error {
  override name = "SchemaError";
  readonly problem: string;
  /** How to fix it. */
  readonly fix: string;

  constructor(problem: string, fix: string) {
    super(`${problem} ${fix}`);
    this.problem = problem;
    this.fix = fix;
  }
}

/** A migration as recorded in the database. */
interface Done extends Recorded {
  readonly compatible_from: string | null;
}

/** Throws if this version cannot run on the schema; returns the migrations of newer versions, with which it can run. */
function check(done: ReadonlyMap<string, Done>, migrations: readonly Migration[]): string[] {
  const known: readonly Recorded[] = [...replaced, ...migrations];
  const newer = checkNewer(done, known);
  for (const { name, checksum } of known) {
    const recorded = done.get(name);
    if (recorded !== undefined && recorded.checksum !== checksum) {
      throw new SchemaError(
        `The migration ${name} is not the one that was applied to this database.`,
        "An applied migration must not be edited; add a new one instead.",
      );
    }
  }
  if (baselineOf(done) === "part") {
    const { lacks, commit } = olderSchema(new Set(done.keys()));
    throw new SchemaError(
      `The database's schema is too old for this version: it lacks ${lacks}. Nothing was changed.`,
      `Start Tollgate at commit ${commit} on it once (or run its "tollgate migrate"), then this version.`,
    );
  }
  return newer;
}

const baselineOf = (done: ReadonlyMap<string, Done>): BaselineState =>
  baselineState(new Set(done.keys()));

function checkNewer(done: ReadonlyMap<string, Done>, known: readonly Recorded[]): string[] {
  const names = new Set(known.map((migration) => migration.name));
  const last = known.at(-1)?.name ?? "";
  const newer = [...done.values()].filter(({ name }) => !names.has(name));
  // An unknown name between known ones comes from another program, or from a migration that was withdrawn.
  const breaking = newer.filter(
    ({ name, compatible_from: from }) => name < last || (from !== null && from > last),
  );
  if (breaking.length > 0) {
    const words = breaking.map(({ name, compatible_from: from }) =>
      from === null ? name : `${name}, which needs a version that knows ${from}`,
    );
    throw new SchemaError(
      `The database was changed by a newer version of Tollgate (${words.join("; ")}); this one knows migrations up to ${last}.`,
      "Run that version, or restore a backup from before it.",
    );
  }
  return newer.map(({ name }) => name);
}

/** @throws SchemaError where the search_path leads past our tables */
async function checkSearchPath(database: Queryable): Promise<void> {
  const wrong = await wrongSearchPath(database);
  if (wrong !== undefined) throw new SchemaError(wrong.problem, wrong.fix);
}

/** True if the first schema of the search_path has our tables. @throws SchemaError where the path leads past them */
export async function hasTables(database: Queryable): Promise<boolean> {
  await checkSearchPath(database);
  const [row] = await database.query<{ are_there: boolean }>(
    "select to_regclass(format('%I.schema_migrations', current_schema())) is not null as are_there",
  );
  return row!.are_there;
}

/** @throws SchemaError where the first schema of the search_path has none of our tables */
export async function needTables(database: Queryable): Promise<void> {
  if (await hasTables(database)) return;
  throw new SchemaError(
    "The database has no tables of Tollgate.",
    "Check that DATABASE_URL names the gateway's database.",
  );
}

/**
 * Creates the table of applied migrations, and blocks schema changes of other processes until the transaction ends.
 * @throws SchemaError where the search_path leads past our tables
 */
export async function prepareMigrations(tx: Queryable): Promise<void> {
  // No time limit: a change of a large table, or waiting for another process, may take longer than an ordinary statement.
  await tx.query("set local statement_timeout = 0");
  await tx.query("select pg_advisory_xact_lock($1)", [lockKey]);
  await checkSearchPath(tx);
  await tx.query(
    `create table if not exists schema_migrations (
       name text primary key,
       checksum text not null,
       applied_at timestamptz not null default now(),
       compatible_from text
     )`,
  );
  // For databases from before this column. Check first, because `alter table` would wait for all readers of the table.
  if (!(await hasCompatibility(tx)))
    await tx.query("alter table schema_migrations add column compatible_from text");
}

async function hasCompatibility(database: Queryable): Promise<boolean> {
  const found = await database.query(
    `select 1 from pg_attribute where attrelid = to_regclass('schema_migrations') and attname = 'compatible_from'
       and not attisdropped`,
  );
  return found.length > 0;
}

async function readDone(database: Queryable): Promise<Map<string, Done>> {
  const column = (await hasCompatibility(database)) ? "" : ", null::text as compatible_from";
  const rows = await database.query<Done>(`select *${column} from schema_migrations order by name`);
  return new Map(rows.map((row) => [row.name, row]));
}

/** Returns all migrations of this version, in order; first those that the baseline replaces. */
export const knownMigrations = (): readonly Recorded[] => [...replaced, ...readMigrations()];

/**
 * Creates the schema of the baseline, and records the migrations it replaces.
 * @throws SchemaError where ids would not be in order, or texts could not be stored
 */
async function applyBaseline(tx: Queryable): Promise<void> {
  const lack = await wrongEncoding(tx);
  if (lack !== undefined) throw new SchemaError(lack, encodingFix);
  const problem = wrongOrder(await readTextOrder(tx));
  if (problem !== undefined) throw new SchemaError(problem, orderFix);
  for (const sql of readBaseline()) await tx.query(sql);
  await tx.query(
    "insert into schema_migrations (name, checksum) select * from unnest($1::text[], $2::text[])",
    [replaced.map(({ name }) => name), replaced.map(({ checksum }) => checksum)],
  );
}

/**
 * Applies the missing migrations that `wanted` names (absent: all); returns their names. Applies the baseline only if `wanted` names all
 * the migrations it replaces.
 * @throws SchemaError when a newer version left this one behind, an applied file was edited, or the schema is too old
 */
export async function applyMigrations(
  tx: Queryable,
  wanted?: ReadonlySet<string>,
): Promise<string[]> {
  const known = readMigrations();
  const done = await readDone(tx);
  check(done, known);
  const isNew =
    baselineOf(done) === "none" && (wanted === undefined || baselineState(wanted) === "whole");
  if (isNew) await applyBaseline(tx);
  const missing = known.filter(({ name }) => !done.has(name) && wanted?.has(name) !== false);
  await lockInOrder(tx, missing.map(({ sql }) => sql).join("\n"));
  for (const { name, sql, checksum, compatibleFrom } of missing) {
    await tx.query(sql);
    await tx.query(
      "insert into schema_migrations (name, checksum, compatible_from) values ($1, $2, $3)",
      [name, checksum, compatibleFrom],
    );
  }
  return [...(isNew ? [baselineName] : []), ...missing.map(({ name }) => name)];
}

/**
 * Applies all missing migrations in one transaction; returns their names. While tables are in use it retries for ten minutes, and logs the
 * reason to `log`.
 * @throws SchemaError when a newer version left this one behind, an applied file was edited, the schema is too old, or the
 * server refuses to change it
 */
export async function migrate(
  database: Database,
  log?: Pick<Log, "warn">,
): Promise<{ applied: string[] }> {
  const change = () =>
    database.transaction(async (tx) => {
      await prepareMigrations(tx);
      // Not before: the lock of another gateway that changes the schema has no such limit.
      await limitLockWaits(tx);
      return { applied: await applyMigrations(tx) };
    });
  try {
    return await retryWhileLocked(database, log, change);
  } catch (error) {
    throw refusedChange(error) ?? error;
  }
}

/** Fixes when the server refuses a schema change, by PostgreSQL's code. */
const refusals: Readonly<Record<string, string>> = {
  "42501":
    "Make the user of DATABASE_URL the owner of the database: ALTER DATABASE ... OWNER TO ...",
  "55P03":
    "End what holds its tables, such as a long report or a backup (pg_stat_activity), and start again.",
  "25006": "Name the primary by DATABASE_URL: this server takes no changes.",
};

function refusedChange(error: unknown): SchemaError | undefined {
  const fix = error instanceof Error && "code" in error ? refusals[String(error.code)] : undefined;
  const why = `The schema of the database could not be changed: ${(error as Error).message}.`;
  return fix === undefined ? undefined : new SchemaError(why, fix);
}

/** Compares a database's schema with this version's, without changes. @throws SchemaError as `migrate` does */
export async function schemaState(database: Queryable): Promise<{
  readonly last: string;
  readonly missing: readonly string[];
  /** Migrations of newer versions, with which this version can run. */
  readonly newer: readonly string[];
}> {
  const known = readMigrations();
  await checkSearchPath(database);
  const [table] = await database.query<{ is_there: boolean }>(
    "select to_regclass('schema_migrations') is not null as is_there",
  );
  const done = table?.is_there ? await readDone(database) : new Map<string, Done>();
  const newer = check(done, known);
  const names = known.map(({ name }) => name);
  const missing = names.filter((name) => !done.has(name));
  if (baselineOf(done) === "none") missing.unshift(baselineName);
  return { last: names.at(-1) ?? "", missing, newer };
}
