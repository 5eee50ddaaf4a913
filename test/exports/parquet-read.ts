/** Reads a Parquet file with a third-party reader, back to the lines that it was made of. */
import { parquetMetadata, parquetReadObjects, type FileMetaData } from "hyparquet";
import { gunzipSync } from "node:zlib";
import { formatUsd } from "../../src/base/money.ts";

export type Row = Readonly<Record<string, unknown>>;

interface ParquetRead {
  readonly metadata: FileMetaData;
  readonly rows: readonly Row[];
}

/** The type of each column. */
export const columnTypes = ({ schema }: FileMetaData): Record<string, string> =>
  Object.fromEntries(
    schema
      .slice(1)
      .map(({ name, type, logical_type: logical }) => [
        name,
        [type, logical?.type].filter(Boolean).join(" "),
      ]),
  );

/** Reads a big-endian two's complement number. */
const unscaled = (bytes: Uint8Array): bigint =>
  BigInt.asIntN(128, BigInt(`0x${Buffer.from(bytes).toString("hex")}`));

/** The rows. Amounts are in nano-dollars, because the reader would turn them into floats. */
export async function readParquet(bytes: Buffer): Promise<ParquetRead> {
  const file = new Uint8Array(bytes).buffer;
  const metadata = parquetMetadata(file);
  const isMoney = new Set(
    metadata.schema.filter((one) => one.converted_type === "DECIMAL").map(({ name }) => name),
  );
  const schema = metadata.schema.map((one) => {
    const { converted_type: _converted, logical_type: _logical, ...raw } = one;
    return isMoney.has(one.name) ? raw : one;
  });
  const rows: Row[] = await parquetReadObjects({
    file,
    metadata: { ...metadata, schema },
    compressors: { GZIP: (page) => new Uint8Array(gunzipSync(page)) },
  });
  return {
    metadata,
    rows: rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [
          name,
          isMoney.has(name) && value instanceof Uint8Array ? unscaled(value) : (value ?? null),
        ]),
      ),
    ),
  };
}

const jsonNames = new Set([
  "usage",
  "dropped",
  "notes",
  "attempts",
  "explanation",
  "tags",
  "price_lines",
]);

/** Returns a row as in its line of JSON, without the columns of token counts, which repeat `usage`. */
export function lineOf(row: Row): Row {
  const entries = Object.entries(row).flatMap(([name, value]): [string, unknown][] => {
    if (name.endsWith("_tokens")) return [];
    if (value instanceof Date) return [[name, value.toISOString()]];
    if (name === "entry") return [[name, String(value)]];
    if (typeof value === "bigint") return [[name, formatUsd(value)]];
    if (jsonNames.has(name) && typeof value === "string") return [[name, JSON.parse(value)]];
    return [[name, value]];
  });
  return Object.fromEntries(entries);
}
