/**
 * One day as one file: `requests-2026-11-23.jsonl.gz`. Rows come by a cursor and leave through gzip as the place takes them, so that
 * memory is the same for any day. The name is the day's for ever: a second time writes the same file.
 */
import { Readable } from "node:stream";
import { createGzip } from "node:zlib";
import type { FileStore } from "../files/index.ts";
import type { Queryable } from "../storage/index.ts";
import { lines } from "./lines.ts";

export type ExportKind = keyof typeof lines;
export const exportKinds = Object.keys(lines) as ExportKind[];

const fetchRows = 500;
/**
 * How long the place may take for what is read of a day at once: a part of 8 MB, tried three times. The process may also have been
 * stopped, or be gone: it must not hold its lock and its snapshot for ever.
 */
const waitMax = "15min";

export interface DayFile {
  readonly file: string;
  readonly rows: number;
  /** Compressed. */
  readonly bytes: number;
}

/** The rows of a day, each as a line; `onRow` counts them. */
async function* linesOf(
  tx: Queryable,
  kind: ExportKind,
  startMs: number,
  onRow: () => void,
): AsyncGenerator<string, void, undefined> {
  const { rows, line } = lines[kind];
  const { sql, params } = rows(startMs);
  await tx.query(
    `set local statement_timeout = 0; set local idle_in_transaction_session_timeout = '${waitMax}'`,
  );
  await tx.query(`declare export_rows no scroll cursor for ${sql}`, params);
  for (;;) {
    const some = await tx.query<never>(`fetch forward ${fetchRows} from export_rows`);
    if (some.length === 0) break;
    let text = "";
    for (const row of some) {
      onRow();
      text += `${JSON.stringify(line(row))}\n`;
    }
    yield text;
  }
  await tx.query("close export_rows");
}

/**
 * Writes the file of the day, `YYYY-MM-DD` in UTC. `tx` is a transaction of one snapshot.
 * @throws what the database or the place fails with; then there is no file, or the one from before
 */
export async function exportDay(
  tx: Queryable,
  place: FileStore,
  kind: ExportKind,
  day: string,
): Promise<DayFile> {
  const file = `${kind}-${day}.jsonl.gz`;
  let count = 0;
  const source = Readable.from(
    linesOf(tx, kind, Date.parse(`${day}T00:00:00Z`), () => (count += 1)),
  );
  const packed = createGzip();
  // The store reads `packed` and fails with it.
  source.on("error", (error) => packed.destroy(error));
  packed.on("close", () => source.destroy());
  const { bytes } = await place.put(file, source.pipe(packed), {
    mediaType: "application/gzip",
    bytesMax: Infinity,
  });
  return { file, rows: count, bytes };
}
