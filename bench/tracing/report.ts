/** Reports the cost of traces: the gateway's processor time per answer, and answers per second, with and without them. */
import { numberText } from "../report/columns.ts";
import type { Report } from "../report/shown.ts";
import { alignedLines, howMeasured } from "../report/table.ts";

const change = (ratio: number | undefined): string =>
  ratio === undefined ? "" : `${ratio >= 1 ? "+" : ""}${((ratio - 1) * 100).toFixed(1)} %`;

/** Prints the table. */
export function printTracingCost(report: Report): void {
  const table: string[][] = [["", "CPU µs", "CPU change", "per second", "rate change", ""]];
  let scenario = "";
  for (const row of report.rows) {
    if (row.scenario !== scenario) table.push([`${row.title} (${row.scenario})`]);
    ({ scenario } = row);
    table.push([
      `  ${row.subject}`,
      numberText(row.median.processorUs),
      change(row.toCommit?.processorUs),
      numberText(row.median.perSecond),
      change(row.toCommit?.perSecond),
      row.notes.join("; "),
    ]);
  }
  console.log(["", "Traces", ...alignedLines(table), "", howMeasured(report)].join("\n"));
}
