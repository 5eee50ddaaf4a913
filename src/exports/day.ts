/**
 * Writes one day as one file: `requests-2026-11-23.jsonl.gz`, or `.parquet`. A cursor reads rows as fast as the store takes them,
 * so memory use is the same for any day. The name depends only on the day: exporting again writes the same file.
 */
import type { ExportFormat } from "../base/export-place.ts";
import type { FileStore } from "../files/index.ts";
import type { Queryable } from "../storage/index.ts";
import { jsonLinesOf } from "./json-lines.ts";
import { lines, type ExportKind } from "./lines.ts";
import { parquetOf } from "./parquet.ts";

const fetchRows = 500;
/**
 * Limit of a pause between two fetches: enough for the store to try a part of 5 MB three times. The process may also hang or be
 * gone: it must not hold its lock and snapshot for ever.
 */
const waitMax = "15min";

/** Names the file to write. */
export interface Day {
  readonly kind: ExportKind;
  /** `YYYY-MM-DD` in UTC. */
  readonly day: string;
  /** JSON lines if absent. */
  readonly format?: ExportFormat | undefined;
}

export interface DayFile {
  readonly file: string;
  readonly rows: number;
  /** Compressed size. */
  readonly bytes: number;
}

type Batches = AsyncIterable<readonly object[]>;

interface Format {
  readonly extension: string;
  readonly mediaType: string;
  readonly bytesOf: (kind: ExportKind, batches: Batches) => AsyncIterable<Uint8Array>;
}

const formats: Readonly<Record<ExportFormat, Format>> = {
  jsonl: {
    extension: ".jsonl.gz",
    mediaType: "application/gzip",
    bytesOf: (_kind, batches) => jsonLinesOf(batches),
  },
  parquet: {
    extension: ".parquet",
    mediaType: "application/vnd.apache.parquet",
    bytesOf: parquetOf,
  },
};

/** Yields the lines of a day in batches; calls `onRows` with the size of each. */
async function* linesOf(
  tx: Queryable,
  { kind, day }: Day,
  onRows: (rows: number) => void,
): AsyncGenerator<readonly object[], void, undefined> {
  const { rows, line } = lines[kind];
  const { sql, params } = rows(Date.parse(`${day}T00:00:00Z`));
  await tx.query(
    `set local statement_timeout = 0; set local idle_in_transaction_session_timeout = '${waitMax}'`,
  );
  await tx.query(`declare export_rows no scroll cursor for ${sql}`, params);
  for (;;) {
    const some = await tx.query<never>(`fetch forward ${fetchRows} from export_rows`);
    if (some.length === 0) break;
    onRows(some.length);
    yield some.map((row) => line(row));
  }
  await tx.query("close export_rows");
}

/** The name of a day's file. */
export const fileOf = ({ kind, day, format = "jsonl" }: Day): string =>
  `${kind}-${day}${formats[format].extension}`;

/**
 * Writes the file of the day. `tx` must be a transaction of one snapshot.
 * @throws errors of the database or the store; then no file exists, or the previous one stays
 */
export async function exportDay(tx: Queryable, place: FileStore, day: Day): Promise<DayFile> {
  const { mediaType, bytesOf } = formats[day.format ?? "jsonl"];
  const file = fileOf(day);
  let count = 0;
  const batches = linesOf(tx, day, (rows) => (count += rows));
  const { bytes } = await place.put(file, bytesOf(day.kind, batches), {
    mediaType,
    bytesMax: Infinity,
  });
  return { file, rows: count, bytes };
}
