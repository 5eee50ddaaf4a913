/**
 * Parquet columns of the lines of lines.ts: one for each key, with the same name. The token counts of text calls get columns of
 * their own. The types ensure that no key is missing. docs/data.md "Exports".
 */
import type { SchemaElement } from "hyparquet-writer";
import { parseUsd } from "../base/money.ts";
import type { ExportKind, Line } from "./lines.ts";

/** `integer`: a 32-bit column of the database. `json`: stored as text, which every reader understands. */
type ColumnType = "text" | "json" | "time" | "money" | "integer" | "count" | "boolean";

const requests: { readonly [Name in keyof Line<"requests">]: ColumnType } = {
  id: "text",
  created_at: "time",
  workspace_id: "text",
  key_id: "text",
  model: "text",
  provider: "text",
  protocol: "text",
  upstream_protocol: "text",
  status: "text",
  http_status: "integer",
  usage: "json",
  usage_source: "text",
  cost: "money",
  duration_ms: "integer",
  first_token_ms: "integer",
  dropped: "json",
  notes: "json",
  attempts: "json",
  explanation: "json",
  tags: "json",
  end_user: "text",
  stream: "boolean",
  error_message: "text",
  price_lines: "json",
};
/** New columns come at the end. */
const { price_lines: priceLines, ...firstOfRequests } = requests;

const ledger: { readonly [Name in keyof Line<"ledger">]: ColumnType } = {
  workspace_id: "text",
  entry: "count",
  created_at: "time",
  kind: "text",
  amount: "money",
  balance_after: "money",
  reference: "text",
  key_id: "text",
  member_id: "text",
  note: "text",
};

/** The fields of `usage` by which text calls are billed. The usage of images and videos has none of them. */
const tokenCounts = [
  "input_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
  "cache_write_1h_tokens",
  "output_tokens",
  "reasoning_tokens",
] as const;

/** A line, parsed from JSON. */
export type ParsedLine = Readonly<Record<string, unknown>>;
/** A value for the Parquet writer. A bigint is a count or unscaled money. */
export type Cell = string | number | bigint | boolean | Date | undefined;

export interface Column {
  readonly name: string;
  readonly element: SchemaElement;
  /** Whether the minimum and maximum of each row group are kept. For JSON they would be long and useless. */
  readonly statistics: boolean;
  readonly cell: (line: ParsedLine) => Cell;
}

const string = {
  type: "BYTE_ARRAY",
  converted_type: "UTF8",
  logical_type: { type: "STRING" },
} as const;
/** Holds every bigint and more. Nine decimals of a dollar, as in the ledger and the log. */
const decimal = { precision: 38, scale: 9 };

interface Kind {
  readonly element: Omit<SchemaElement, "name">;
  readonly of: (value: unknown) => Cell;
}

const types = {
  text: { element: string, of: (value) => value as string },
  json: { element: string, of: (value) => JSON.stringify(value) },
  time: {
    element: {
      type: "INT64",
      converted_type: "TIMESTAMP_MICROS",
      logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MICROS" },
    },
    of: (value) => new Date(value as string),
  },
  money: {
    element: {
      type: "FIXED_LEN_BYTE_ARRAY",
      type_length: 16,
      converted_type: "DECIMAL",
      logical_type: { type: "DECIMAL", ...decimal },
      ...decimal,
    },
    of: (value) => parseUsd(value as string),
  },
  integer: { element: { type: "INT32" }, of: (value) => value as number },
  count: { element: { type: "INT64" }, of: wholeNumber },
  boolean: { element: { type: "BOOLEAN" }, of: (value) => value as boolean },
} as const satisfies Readonly<Record<ColumnType, Kind>>;

/** Returns a count, or undefined if a vendor reported an impossible one: it must not stop the export. `usage` still has it. */
function wholeNumber(value: unknown): bigint | undefined {
  if (typeof value === "string") return BigInt(value);
  return Number.isSafeInteger(value) ? BigInt(value as number) : undefined;
}

const column = (name: string, type: ColumnType, at: (line: ParsedLine) => unknown): Column => ({
  name,
  element: { name, repetition_type: "OPTIONAL", ...types[type].element },
  statistics: type !== "json",
  cell(line) {
    const value = at(line);
    return value === null || value === undefined ? undefined : types[type].of(value);
  },
});

const columnsOf = (table: Readonly<Record<string, ColumnType>>): readonly Column[] =>
  Object.entries(table).map(([name, type]) => column(name, type, (line) => line[name]));

/** The columns of each kind, in order. */
export const columns: Readonly<Record<ExportKind, readonly Column[]>> = {
  requests: [
    ...columnsOf(firstOfRequests),
    ...tokenCounts.map((name) =>
      column(name, "count", ({ usage }) => (usage as ParsedLine | null)?.[name]),
    ),
    ...columnsOf({ price_lines: priceLines }),
  ],
  ledger: columnsOf(ledger),
};
