/** A report as text for a terminal: one table per group, one row per subject and scenario. */
import { groups } from "../scenarios.ts";
import { usedColumns } from "./columns.ts";
import type { Report } from "./shown.ts";

/** Aligns rows of cells in columns: the first column left, the others right, the last one not at all. */
export function alignedLines(table: readonly (readonly string[])[]): string[] {
  const widths = table[0]!.map((_, column) =>
    // A title is alone in its row and spans all columns.
    Math.max(...table.map((row) => (row.length === 1 ? 0 : row[column]!.length))),
  );
  const padded = (cell: string, column: number): string => {
    if (column === widths.length - 1) return cell;
    return column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!);
  };
  return table.map((row) => row.map(padded).join("  ").trimEnd());
}

/** The tables of a report. */
export function textReport(report: Report): string {
  const lines: string[] = [];
  for (const group of groups) {
    const rows = report.rows.filter((row) => row.group === group.name);
    if (rows.length === 0) continue;
    const columns = usedColumns(group.name, rows);
    const table = [["", ...columns.map(([head]) => head), ""]];
    let scenario = "";
    for (const row of rows) {
      if (row.scenario !== scenario) table.push([`${row.title} (${row.scenario})`]);
      ({ scenario } = row);
      const cells = columns.map(([, text]) => text(row));
      table.push([`  ${row.subject}`, ...cells, row.notes.join("; ")]);
    }
    lines.push("", group.title, ...alignedLines(table));
  }
  return [...lines, "", howMeasured(report)].join("\n");
}

const othersMax = 0.1;

/** One line about the run, with a warning if other processes used the machine. */
export function howMeasured(report: Omit<Report, "rows">): string {
  const { rounds, seconds, pinned, machine, node, date, commit, othersBusy } = report;
  const core = pinned ? "the measured process alone on one core" : "cores shared";
  const text = `${rounds} ${rounds === 1 ? "round" : "rounds"} of ${seconds} s, ${core}; ${machine}, Node ${node}, commit ${commit}, ${date}.`;
  if (othersBusy === undefined || othersBusy < othersMax) return text;
  return `${text} Other processes used ${othersBusy.toFixed(1)} cores during the run.`;
}
