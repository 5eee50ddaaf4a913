/**
 * `tollgate restore`: restores a backup into a database, all or nothing. Everything happens in one transaction. It commits when the
 * last frame, the counts, the sums and the ledger's proof are right.
 */
import type { Readable } from "node:stream";
import { counted } from "../base/counted.ts";
import { dayMs } from "../base/durations.ts";
import type { Log } from "../base/log.ts";
import type { FileStore } from "../files/index.ts";
import { differencesIn } from "../verification/index.ts";
import {
  applyMigrations,
  baselineState,
  knownMigrations,
  olderSchema,
  prepareMigrations,
  type Database,
  type Queryable,
} from "../storage/index.ts";
import { BackupError, readFrames, type Frame } from "./frames.ts";
import { endOf, fileOf, headerOf, rowsError, tableOf } from "./parts.ts";
import { outcomeOf, transactionId, type RestoreOutcome } from "./restore-outcome.ts";
import { removeFiles } from "./remove-files.ts";
import { putFile, type FileWriter } from "./restore-file.ts";
import {
  advanceCounters,
  columnsOf,
  countOf,
  dropSchemaObjects,
  noteRestore,
  quoted,
  sumsOf,
  tablesOf,
  lockAllTables,
} from "./schema.ts";
import { refuseForeign, requireUnusedDatabase } from "./unused-database.ts";
import type { BackupEnd, BackupHeader, Progress } from "./write.ts";

export interface RestoreOptions {
  readonly database: Database;
  /** Store for the files of the backup; undefined for a backup without files. */
  readonly files?: FileStore;
  readonly source: Readable;
  /** True if the backup replaces the data in the database. */
  readonly replace: boolean;
  /** Throws if the restored data cannot be used here, for example because of another master key. Runs within the transaction. */
  readonly check: (tx: Queryable) => Promise<void>;
  readonly progress: (progress: Progress) => void;
  /** Receives the outcome of a restore that throws, before it throws. */
  readonly failed?: (outcome: RestoreOutcome) => void;
  /** Receives a warning with the reason when the restore has to wait, and one of files that it could not remove. */
  readonly log?: Pick<Log, "warn">;
  /** True if the data was just copied from another database, and is not of an earlier time. Exported files then hold no later data. */
  readonly isCurrentCopy?: boolean;
}

type Frames = AsyncGenerator<Frame, void, undefined>;

interface Reading extends RestoreOptions {
  readonly frames: Frames;
  readonly header: BackupHeader;
  /** Names of files that the database held before the restore. */
  readonly before: Set<string>;
  /** Names of files that this restore has put into the store so far. */
  readonly storedNames: Set<string>;
}

/**
 * Restores a backup; resolves with its counts.
 * @throws BackupError for a file that is no whole backup, for one of a newer version or of too old a schema, and for a database that
 *   holds data
 */
export async function restoreBackup(options: RestoreOptions): Promise<BackupEnd> {
  const before = new Set<string>();
  const storedNames = new Set<string>();
  /** The transaction, once only its commit is left. */
  let xid: string | undefined;
  const remove = (names: Iterable<string>) => removeFiles(options.files, [...names], options.log);
  let restored;
  try {
    const frames = readFrames(options.source);
    const header = await readHeader(frames);
    restored = await options.database.transaction(
      async (tx) => {
        const whole = await restoreWithin(tx, { ...options, frames, header, before, storedNames });
        xid = await transactionId(tx);
        return whole;
      },
      { msMax: dayMs },
    );
  } catch (error) {
    // Otherwise a writer at its other end would wait for ever if no frame was read.
    options.source.destroy();
    const outcome = xid === undefined ? "unchanged" : await outcomeOf(options.database, xid);
    if (outcome === "unchanged") await remove(storedNames);
    options.failed?.(outcome);
    throw error;
  }
  const { end, named } = restored;
  try {
    // Before the files: those of a large bucket take long.
    await dropCaches(options.database);
  } finally {
    await remove([...before].filter((name) => !named.has(name)));
  }
  return end;
}

async function readHeader(frames: Frames): Promise<BackupHeader> {
  const first = await frames.next();
  if (first.done === true || first.value.kind !== "H")
    throw new BackupError("the backup has no header");
  const header = headerOf(first.value.payload);
  const known = new Map(knownMigrations().map(({ name, checksum }) => [name, checksum]));
  const unknown = header.migrations.find(({ name, checksum }) => known.get(name) !== checksum);
  if (unknown !== undefined)
    throw new BackupError(
      `the backup is of Tollgate ${header.version}, whose schema this version does not know (${unknown.name}): ` +
        "restore it with that version",
    );
  const recorded = new Set(header.migrations.map(({ name }) => name));
  if (baselineState(recorded) !== "part") return header;
  const { lacks, commit } = olderSchema(recorded);
  throw new BackupError(
    `the backup's schema is too old for this version: it lacks ${lacks}. ` +
      `Restore it with Tollgate at commit ${commit}, and write a backup with that`,
  );
}

/** `named`: the files of the restored rows. Their bytes are in the backup, or have stayed in their bucket. */
async function restoreWithin(
  tx: Queryable,
  reading: Reading,
): Promise<{ readonly end: BackupEnd; readonly named: ReadonlySet<string> }> {
  await tx.query("set local idle_in_transaction_session_timeout = 0");
  await prepareMigrations(tx);
  const found = reading.replace ? [] : await requireUnusedDatabase(tx);
  await lockAllTables(tx, reading.log);
  await refuseForeign(tx, found);
  for (const name of await fileNames(tx)) reading.before.add(name);
  await makeSchema(tx, reading.header);
  const end = await readAll(tx, reading);
  await checkCounts(tx, end);
  await applyMigrations(tx);
  await reading.check(tx);
  await checkLedger(tx);
  if (reading.isCurrentCopy !== true) await noteRestore(tx);
  return { end, named: new Set(await fileNames(tx)) };
}

/** @throws BackupError if the ledger does not add up by the rules of `verify` */
async function checkLedger(tx: Queryable): Promise<void> {
  const differences = await differencesIn(tx);
  if (differences.length === 0) return;
  throw new BackupError(
    `the ledger in the backup does not add up (${counted(differences.length, "difference")}, the first: ${differences[0]!.what})`,
  );
}

async function fileNames(tx: Queryable): Promise<string[]> {
  if (!(await tablesOf(tx)).includes("files")) return [];
  const rows = await tx.query<{ name: string }>("select name from files", []);
  return rows.map(({ name }) => name);
}

/** Recreates the schema as the backup's version had it, without rows. */
async function makeSchema(tx: Queryable, { migrations }: BackupHeader): Promise<void> {
  await dropSchemaObjects(tx);
  await prepareMigrations(tx);
  await applyMigrations(tx, new Set(migrations.map(({ name }) => name)));
  // The migrations insert a few rows; the backup has its own versions of them. They insert no ledger entries, and a trigger refuses to
  // truncate those.
  const tables = (await tablesOf(tx)).filter((table) => table !== "ledger_entries");
  if (tables.length > 0) await tx.query(`truncate ${tables.map(quoted).join(", ")}`);
}

async function readAll(tx: Queryable, reading: Reading): Promise<BackupEnd> {
  const open: { file?: FileWriter } = {};
  try {
    return await readFramesInto(tx, reading, open);
  } catch (error) {
    await open.file?.abort();
    throw error;
  }
}

async function readFramesInto(
  tx: Queryable,
  reading: Reading,
  open: { file?: FileWriter },
): Promise<BackupEnd> {
  const { frames, progress } = reading;
  let insert: Insert | undefined;
  let done = 0;
  let files = 0;
  for await (const { kind, payload } of frames) {
    if (kind !== "D") await open.file?.end();
    if (kind === "T") {
      insert = await insertInto(tx, tableOf(payload));
      done = 0;
    } else if (kind === "R" && insert !== undefined) {
      done += await insertRows(tx, insert, payload);
      progress({ what: insert.table, done });
    } else if (kind === "F") {
      open.file = await putFile(reading, fileOf(payload));
      files += 1;
      progress({ what: "files", done: files });
    } else if (kind === "D" && open.file !== undefined) await open.file.write(payload);
    else if (kind === "Z") return endOf(payload);
    else throw new BackupError("the backup was changed: its parts are not in order");
  }
  throw new BackupError("the backup is cut off");
}

interface Insert {
  readonly table: string;
  readonly sql: string;
}

async function insertInto(tx: Queryable, table: string): Promise<Insert> {
  if (!(await tablesOf(tx)).includes(table))
    throw new BackupError(`the backup has a table ${table}, which its own schema does not`);
  const columns = (await columnsOf(tx, table)).map(quoted).join(", ");
  const sql = `with rows as (
       insert into ${quoted(table)} (${columns}) overriding system value
       select ${columns} from json_populate_recordset(null::${quoted(table)}, $1::json) returning 1
     ) select count(*) as n from rows`;
  return { table, sql };
}

/** @returns the number of rows. @throws BackupError for rows that the table does not take */
async function insertRows(tx: Queryable, { table, sql }: Insert, rows: Buffer): Promise<number> {
  try {
    const [row] = await tx.query<{ n: bigint }>(sql, [rows.toString()]);
    return Number(row!.n);
  } catch (error) {
    throw rowsError(table, error);
  }
}

/** @throws BackupError if a table's row count or the ledger's sums differ from the end of the backup */
async function checkCounts(tx: Queryable, end: BackupEnd): Promise<void> {
  for (const table of await tablesOf(tx)) {
    const count = await countOf(tx, table);
    const stated = end.tables[table] ?? 0;
    if (count !== stated)
      throw new BackupError(
        `the table ${table} has ${counted(count, "row")}, and the backup says ${stated}`,
      );
    await advanceCounters(tx, table);
  }
  const sums = await sumsOf(tx);
  if (JSON.stringify(sums) !== JSON.stringify(end.sums))
    throw new BackupError("the books do not add up to what the backup says");
}

/**
 * Ends the listening connections of running gateways. A gateway that reconnects drops its caches, because it may have missed any
 * change.
 * @throws BackupError if the connections cannot be ended
 */
async function dropCaches(database: Database): Promise<void> {
  const asked = database.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where application_name = 'tollgate signals' and datname = current_database() and pid <> pg_backend_pid()`,
    [],
  );
  await asked.catch((error: unknown) => {
    throw new BackupError(
      `the backup was restored, but gateways that run could not be told (${(error as Error).message}): restart them`,
    );
  });
}
