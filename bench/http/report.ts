/** Reports the saving of each part of our own HTTP: the gateway's processor time per answer, with and without it. */
import { numberText } from "../report/columns.ts";
import type { Report } from "../report/shown.ts";
import { alignedLines, howMeasured } from "../report/table.ts";

/** The saving of a part, from the ratio of processor time without it. */
const saved = (ratio: number | undefined): string =>
  ratio === undefined ? "" : `${Math.round((1 - 1 / ratio) * 100)} %`;

/** Prints the table. */
export function printHttpSavings(report: Report): void {
  const heads = [
    "upstream: server, client",
    "CPU µs",
    "saved by ours",
    "per second",
    "% of ours",
    "",
  ];
  const table: string[][] = [heads];
  let scenario = "";
  for (const row of report.rows) {
    if (row.scenario !== scenario) table.push([`${row.title} (${row.scenario})`]);
    ({ scenario } = row);
    const share = row.toCommit?.perSecond;
    table.push([
      `  ${row.subject}`,
      numberText(row.median.processorUs),
      saved(row.toCommit?.processorUs),
      numberText(row.median.perSecond),
      share === undefined ? "" : `${Math.round(share * 100)} %`,
      row.notes.join("; "),
    ]);
  }
  console.log(["", "Our own HTTP", ...alignedLines(table), "", howMeasured(report)].join("\n"));
}
