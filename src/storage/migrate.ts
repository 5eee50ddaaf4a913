/**
 * Brings the schema up to date: the baseline for a database that has none, then the numbered files of ./migrations, each
 * applied once, in order. All in one transaction: a start that is broken off leaves nothing.
 * Safe when several processes start together. A schema that a newer version has changed is refused only where a migration
 * there says that it left this version behind: `-- contracts after: NAME` (CONTRIBUTING.md "Migrations").
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
import { limitLockWaits, patiently } from "./migrate-patiently.ts";
import type { Queryable } from "./queryable.ts";
import { orderFix, readTextOrder, wrongOrder } from "./text-order.ts";

const directory = ownFile("src/storage/migrations/");
/** Any number that nothing else in the database locks. */
const lockKey = 7_409_318_200_417n;

interface Migration extends Recorded {
  readonly sql: string;
  /** The last migration that a version must know to run on the schema after this one; null: any version does. */
  readonly compatibleFrom: string | null;
}

/** What a migration's text says of the versions that it leaves behind. */
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
  /** What to do. */
  readonly fix: string;

  constructor(problem: string, fix: string) {
    super(`${problem} ${fix}`);
    this.problem = problem;
    this.fix = fix;
  }
}

/** A migration as the database has it recorded. */
interface Done extends Recorded {
  readonly compatible_from: string | null;
}

/** Refuses what this version cannot run on; returns the migrations of newer versions that it can. */
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
  // A name between ours was never ours: another program's, or one that was taken back.
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

/** Makes the table of what was applied, and keeps other processes from changing the schema until the transaction's end. */
export async function prepareMigrations(tx: Queryable): Promise<void> {
  // A large table may take longer than an ordinary statement is given; so may waiting for another process.
  await tx.query("set local statement_timeout = 0");
  await tx.query("select pg_advisory_xact_lock($1)", [lockKey]);
  await tx.query(
    `create table if not exists schema_migrations (
       name text primary key,
       checksum text not null,
       applied_at timestamptz not null default now(),
       compatible_from text
     )`,
  );
  // Of a database from before this column. Looked at first: to add it again would wait for everybody who reads the table.
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

/** All migrations of this version, in order; first those that the baseline stands for. */
export const knownMigrations = (): readonly Recorded[] => [...replaced, ...readMigrations()];

/** Makes the schema of the baseline, and records what it stands for. @throws SchemaError where ids would not be in order */
async function applyBaseline(tx: Queryable): Promise<void> {
  const problem = wrongOrder(await readTextOrder(tx));
  if (problem !== undefined) throw new SchemaError(problem, orderFix);
  for (const sql of readBaseline()) await tx.query(sql);
  await tx.query(
    "insert into schema_migrations (name, checksum) select * from unnest($1::text[], $2::text[])",
    [replaced.map(({ name }) => name), replaced.map(({ checksum }) => checksum)],
  );
}

/**
 * Applies what is missing, as far as `wanted` names it (absent: all); returns the names. The baseline is wanted where all
 * that it stands for is.
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
 * Applies what is missing, all in one transaction; returns the names of what it applied. Where tables are in use it tries again for ten
 * minutes, and `log` hears why.
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
      // Not before: another gateway that changes the schema now is waited for.
      await limitLockWaits(tx);
      return { applied: await applyMigrations(tx) };
    });
  try {
    return await patiently(database, log, change);
  } catch (error) {
    throw refusedChange(error) ?? error;
  }
}

/** What helps where the server refuses a change of the schema, by the code of PostgreSQL. */
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

/** How a database's schema stands to this version's, without changing it. @throws SchemaError as `migrate` does */
export async function schemaState(database: Queryable): Promise<{
  readonly last: string;
  readonly missing: readonly string[];
  /** Of newer versions, which this one runs with. */
  readonly newer: readonly string[];
}> {
  const known = readMigrations();
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
