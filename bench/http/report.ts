/** What each part of our own HTTP saves: processor time of the gateway for each answer, with and without it. */
import { numberText } from "../report/columns.ts";
import type { Report } from "../report/shown.ts";
import { alignedLines, howMeasured } from "../report/table.ts";

/** What a gateway without a part takes more is what the part saves of that. */
const saved = (ratio: number | undefined): string =>
  ratio === undefined ? "" : `${Math.round((1 - 1 / ratio) * 100)} %`;

/** Prints the table. */
export function printHttpSavings(report: Report): void {
  const heads = ["upstream: front, client", "CPU us", "ours saves", "a second", "of ours", ""];
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
