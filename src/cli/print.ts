/** Output of commands: a table for people, JSON for programs. */
import { printableJson } from "../base/printable.ts";

const jsonOf = (value: unknown, indent?: number): string =>
  printableJson(
    JSON.stringify(
      value,
      (_key, item: unknown) => (typeof item === "bigint" ? item.toString() : item),
      indent,
    ),
  );

/** Prints `value` as indented JSON. Bigints are written as decimal strings. */
export const printJson = (value: unknown): void => console.log(jsonOf(value, 2));

/** Prints `value` as one line of JSON, for commands that print several values as they become available. */
export const printJsonLine = (value: unknown): void => console.log(jsonOf(value));

/** Prints rows as a table with aligned columns, under a row of column names in capitals. */
export function printTable(columns: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = columns.map((name, index) =>
    rows.reduce((width, row) => Math.max(width, (row[index] ?? "").length), name.length),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join("  ")
      .trimEnd();
  console.log(line(columns.map((name) => name.toUpperCase())));
  for (const row of rows) console.log(line(row));
}
