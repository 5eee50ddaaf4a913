/** `tollgate backup`: streams one snapshot of all tables, and the files that they name. Gateways keep running meanwhile. */
import type { Writable } from "node:stream";
import { dayMs } from "../base/durations.ts";
import type { FileStore } from "../files/index.ts";
import { needTables, type Database, type Queryable } from "../storage/index.ts";
import { createFrameWriter, type FrameWriter } from "./frames.ts";
import { quoted, sumsOf, tablesOf } from "./schema.ts";

const rowsMax = 5_000;
/** Approximate bytes of rows in a frame. */
const frameBytes = 2 ** 20;

/** Progress that the command shows to a person. */
export interface Progress {
  readonly what: string;
  readonly done: number;
}

export interface BackupHeader {
  readonly createdAt: string;
  readonly version: string;
  readonly migrations: readonly { readonly name: string; readonly checksum: string }[];
  /** Whether the files are in the backup, or stay in their bucket. */
  readonly files: "included" | "s3";
}

export interface BackupEnd {
  readonly tables: Readonly<Record<string, number>>;
  readonly sums: Readonly<Record<string, string>>;
  readonly files: number;
}

/** Counts of the written backup, and of the files that could not be written. */
export interface Written extends BackupEnd {
  /** Files that the database names but the store does not have. */
  readonly missingFiles: number;
}

export interface BackupOptions {
  readonly database: Database;
  /** The store to copy files from; undefined if they stay in their bucket. */
  readonly files: FileStore | undefined;
  readonly destination: Writable;
  readonly version: string;
  readonly progress: (progress: Progress) => void;
}

/** Writes a backup. Resolves with its counts when the destination has received everything. */
export async function writeBackup(options: BackupOptions): Promise<Written> {
  const writer = createFrameWriter(options.destination);
  try {
    const { tables, sums, fileNames } = await options.database.transaction(
      (tx) => writeTables(tx, writer, options),
      { isolation: "repeatable read", readOnly: true, msMax: dayMs },
    );
    const { done, absent } = await writeFiles(fileNames, writer, options);
    const end: BackupEnd = { tables, sums, files: done };
    const missingFiles = await countStillNamed(absent, options.database);
    await writer.end(end);
    return { ...end, missingFiles };
  } catch (error) {
    writer.destroy();
    throw error;
  }
}

async function writeTables(tx: Queryable, writer: FrameWriter, options: BackupOptions) {
  // Without synchronized scans, a table is read from its beginning, so both cursors return the rows in the same order.
  await tx.query(
    `set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0;
     set local synchronize_seqscans = off`,
  );
  await needTables(tx);
  const migrations = await tx.query<{ name: string; checksum: string }>(
    "select name, checksum from schema_migrations order by name",
    [],
  );
  const header: BackupHeader = {
    createdAt: new Date().toISOString(),
    version: options.version,
    migrations,
    files: options.files === undefined ? "s3" : "included",
  };
  await writer.write("H", JSON.stringify(header));
  const tables: Record<string, number> = {};
  for (const table of await tablesOf(tx))
    tables[table] = await writeTable(tx, table, writer, options);
  const names = await tx.query<{ name: string }>(
    "select name from files where expires_at > now() order by name",
    [],
  );
  return { tables, sums: await sumsOf(tx), fileNames: names.map(({ name }) => name) };
}

async function writeTable(
  tx: Queryable,
  table: string,
  writer: FrameWriter,
  { progress }: BackupOptions,
): Promise<number> {
  await writer.write("T", JSON.stringify({ table }));
  const cursor = (name: string, what: string) =>
    `declare ${name} no scroll cursor for select ${what} from ${quoted(table)} t`;
  await tx.query(cursor("backup_sizes", "octet_length(row_to_json(t)::text) as bytes"));
  await tx.query(cursor("backup_rows", "row_to_json(t)::text as row"));
  let done = 0;
  for await (const count of countsOf(tx)) {
    const rows = await tx.query<{ row: string }>(`fetch forward ${count} from backup_rows`);
    await writer.write("R", `[${rows.map(({ row }) => row).join(",")}]`);
    done += rows.length;
    progress({ what: table, done });
  }
  await tx.query("close backup_sizes; close backup_rows");
  return done;
}

/**
 * Yields the number of rows for each frame. Their sizes are queried first: thousands of small rows may be followed by thousands of
 * megabytes.
 */
async function* countsOf(tx: Queryable): AsyncGenerator<number, void, undefined> {
  for (;;) {
    const sizes = await tx.query<{ bytes: number }>(`fetch forward ${rowsMax} from backup_sizes`);
    if (sizes.length === 0) return;
    let [count, sum] = [0, 0];
    for (const { bytes } of sizes) {
      if (count > 0 && sum + bytes > frameBytes) {
        yield count;
        [count, sum] = [0, 0];
      }
      count += 1;
      sum += bytes;
    }
    yield count;
  }
}

/** Leaves out files that the store lacks: they expired after the snapshot, or are on another disk. Readers would not find them. */
async function writeFiles(
  names: readonly string[],
  writer: FrameWriter,
  { files, progress }: BackupOptions,
): Promise<{ readonly done: number; readonly absent: readonly string[] }> {
  if (files === undefined) return { done: 0, absent: [] };
  let done = 0;
  const absent: string[] = [];
  for (const name of names) {
    const file = await files.open(name);
    if (file === undefined) {
      absent.push(name);
      continue;
    }
    await writer.write("F", JSON.stringify({ name, bytes: file.bytes }));
    for await (const chunk of file.stream as AsyncIterable<Buffer>) await writer.write("D", chunk);
    done += 1;
    progress({ what: "files", done });
  }
  return { done, absent };
}

/** Counts those of these files that are still in the database and not expired. */
async function countStillNamed(names: readonly string[], database: Database): Promise<number> {
  if (names.length === 0) return 0;
  const rows = await database.query<{ count: number }>(
    "select count(*)::int as count from files where name = any($1) and expires_at > now()",
    [names],
  );
  return rows[0]!.count;
}
