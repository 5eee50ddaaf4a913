/** The figures as JSON: the facts of the run, and each row with the medians and every round. */
import { middleOf, ratioOf, type Figures, type Row } from "../figures.ts";
import type { Report } from "./report.ts";

const names: readonly (keyof Figures)[] = [
  "perSecond",
  "medianMs",
  "p99Ms",
  "firstMedianMs",
  "firstP99Ms",
  "processorUs",
  "subjectBusy",
  "loadBusy",
  "sideBusy",
  "streamKb",
  "lateP99Ms",
];

/** Four significant digits say all that a measurement can. */
const rounded = (value: number): number => Number(value.toPrecision(4));

const mapped = (value: (name: keyof Figures) => number | undefined): Record<string, number> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const found = value(name);
      return found === undefined || !Number.isFinite(found) ? [] : [[name, rounded(found)]];
    }),
  );

/** One row, as it stands in the JSON. */
function jsonRow(report: Report, row: Row): object {
  const { bare, against } = report.beside(row);
  const ratios = (to: Row | undefined) =>
    to === undefined || to === row ? undefined : mapped((name) => ratioOf(row, to, name));
  return {
    scenario: row.scenario.name,
    group: row.scenario.group,
    title: row.scenario.title,
    subject: row.subject,
    median: mapped((name) => middleOf(row, name)),
    toBare: ratios(bare),
    toCommit: ratios(against),
    failures: row.rounds.reduce((sum, { failures }) => sum + failures, 0),
    rounds: row.rounds.map((round) => mapped((name) => round[name])),
  };
}

/** The whole report. */
export const jsonReport = (report: Report): string =>
  `${JSON.stringify({ ...report.facts, rows: report.rows.map((row) => jsonRow(report, row)) }, null, 2)}\n`;
