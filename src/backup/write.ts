/** `tollgate backup`: one snapshot of all tables, and the files they name, as a stream. Nothing stops meanwhile. */
import type { Writable } from "node:stream";
import type { FileStore } from "../files/index.ts";
import type { Database, Queryable } from "../storage/index.ts";
import { createFrameWriter, type FrameWriter } from "./frames.ts";
import { quoted, sumsOf, tablesOf } from "./schema.ts";

const dayMs = 24 * 3_600_000;
const rowsFirst = 100;
const rowsMax = 5_000;
/** About so many bytes a frame. */
const frameBytes = 2 ** 20;

/** What a person reads while it goes on. */
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

export interface BackupOptions {
  readonly database: Database;
  /** The store whose files are taken along; undefined where they stay in their bucket. */
  readonly files: FileStore | undefined;
  readonly destination: Writable;
  readonly version: string;
  readonly progress: (progress: Progress) => void;
}

/** Writes a backup; resolves with what is in it when the destination has everything. */
export async function writeBackup(options: BackupOptions): Promise<BackupEnd> {
  const writer = createFrameWriter(options.destination);
  try {
    const { tables, sums, fileNames } = await options.database.transaction(
      (tx) => writeTables(tx, writer, options),
      { isolation: "repeatable read", readOnly: true, msMax: dayMs },
    );
    const files = await writeFiles(fileNames, writer, options);
    const end: BackupEnd = { tables, sums, files };
    await writer.end(end);
    return end;
  } catch (error) {
    writer.destroy();
    throw error;
  }
}

async function writeTables(tx: Queryable, writer: FrameWriter, options: BackupOptions) {
  await tx.query(
    "set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0",
  );
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
  await tx.query(
    `declare backup_rows no scroll cursor for select row_to_json(t)::text as row from ${quoted(table)} t`,
  );
  let done = 0;
  let count = rowsFirst;
  for (;;) {
    const rows = await tx.query<{ row: string }>(`fetch forward ${count} from backup_rows`);
    if (rows.length === 0) break;
    const text = `[${rows.map(({ row }) => row).join(",")}]`;
    await writer.write("R", text);
    done += rows.length;
    progress({ what: table, done });
    // Rows of a table are alike, and few are large: aim at frames of one size.
    count = Math.max(1, Math.min(rowsMax, Math.floor((rows.length * frameBytes) / text.length)));
  }
  await tx.query("close backup_rows");
  return done;
}

/** A file that expired since the snapshot is left out, as a reader would find it. */
async function writeFiles(
  names: readonly string[],
  writer: FrameWriter,
  { files, progress }: BackupOptions,
): Promise<number> {
  if (files === undefined) return 0;
  let done = 0;
  for (const name of names) {
    const file = await files.open(name);
    if (file === undefined) continue;
    await writer.write("F", JSON.stringify({ name, bytes: file.bytes }));
    for await (const chunk of file.stream as AsyncIterable<Buffer>) await writer.write("D", chunk);
    done += 1;
    progress({ what: "files", done });
  }
  return done;
}
