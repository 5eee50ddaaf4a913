/** The figures as tables of text: one for each group, a row for each subject in each scenario. */
import {
  isLoadTheBottleneck,
  isSideTheBottleneck,
  middleOf,
  ratioOf,
  type Row,
} from "../figures.ts";
import { groups } from "../scenarios.ts";
import type { Report } from "./report.ts";

/** Numbers as a person reads them. */
const digits = (value: number): string => {
  if (!Number.isFinite(value)) return "?";
  if (value >= 1_000) return Math.round(value).toLocaleString("en-US");
  if (value >= 100) return value.toFixed(0);
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
};
const number = (value: number | undefined, unit = ""): string =>
  value === undefined ? "" : `${digits(value)}${unit}`;
const percent = (value: number | undefined): string =>
  value === undefined ? "" : `${Math.round(value * 100)} %`;
const times = (value: number | undefined): string =>
  value === undefined ? "" : `x ${value.toFixed(2)}`;

type Cell = (row: Row, beside: { readonly bare?: Row; readonly against?: Row }) => string;

const rate: Record<string, Cell> = {
  "a second": (row) => number(middleOf(row, "perSecond")),
  "of bare": (row, { bare }) => percent(ratioOf(row, bare, "perSecond")),
};
const processor: Record<string, Cell> = {
  "CPU us": (row) => number(middleOf(row, "processorUs")),
  "x bare": (row, { bare }) => times(ratioOf(row, bare, "processorUs")),
};
const latency: Record<string, Cell> = {
  "median ms": (row) => number(middleOf(row, "medianMs")),
  "p99 ms": (row) => number(middleOf(row, "p99Ms")),
};
const first: Record<string, Cell> = {
  "first ms": (row) => number(middleOf(row, "firstMedianMs")),
  "first p99": (row) => number(middleOf(row, "firstP99Ms")),
};
const busy: Record<string, Cell> = {
  core: (row) => percent(middleOf(row, "subjectBusy")),
  load: (row) => percent(middleOf(row, "loadBusy")),
  others: (row) => percent(middleOf(row, "sideBusy")),
};
const against = (name: "perSecond" | "medianMs" | "lateP99Ms"): Record<string, Cell> => ({
  "x commit": (row, beside) => times(ratioOf(row, beside.against, name)),
});

/** What each group shows. */
const columns: Record<string, Record<string, Cell>> = {
  latency: {
    ...latency,
    "added ms": (row, { bare }) =>
      bare === row
        ? ""
        : number(difference(middleOf(row, "medianMs"), bare && middleOf(bare, "medianMs"))),
    ...first,
    ...against("medianMs"),
    ...processor,
  },
  held: {
    "kB a stream": (row) => number(middleOf(row, "streamKb")),
    "late p99 ms": (row) => number(middleOf(row, "lateP99Ms")),
    "late median": (row) => number(middleOf(row, "medianMs")),
    "frames/s": (row) => number(middleOf(row, "perSecond")),
    ...against("lateP99Ms"),
    ...busy,
  },
  streams: { ...rate, ...against("perSecond"), ...processor, ...first, ...busy },
};
const usual = { ...rate, ...against("perSecond"), ...processor, ...latency, ...busy };

const difference = (own: number | undefined, other: number | undefined): number | undefined =>
  own === undefined || other === undefined ? undefined : own - other;

/** The notes under a row's figures. */
function notesOf(row: Row): string[] {
  const failures = row.rounds.reduce((sum, round) => sum + round.failures, 0);
  return [
    ...(failures > 0 ? [`${failures} answers not as asked`] : []),
    ...(isLoadTheBottleneck(row) ? ["the load generator is the bottleneck"] : []),
    ...(!isLoadTheBottleneck(row) && isSideTheBottleneck(row)
      ? ["the other cores are full: upstream or database set the pace"]
      : []),
  ];
}

/** Rows of cells as lines in columns; numbers stand at the right. */
function alignedLines(table: readonly (readonly string[])[]): string[] {
  const widths = table[0]!.map((_, column) =>
    // A title stands alone in its row, over all columns.
    Math.max(...table.map((row) => (row.length === 1 ? 0 : row[column]!.length))),
  );
  return table.map((row) =>
    row
      .map((cell, column) =>
        column === 0 || column >= widths.length - 1
          ? cell.padEnd(widths[column]!)
          : cell.padStart(widths[column]!),
      )
      .join("  ")
      .trimEnd(),
  );
}

/** Everything as text for a terminal. */
export function textReport(report: Report): string {
  const lines: string[] = [];
  for (const group of groups) {
    const rows = report.rows.filter((row) => row.scenario.group === group.name);
    if (rows.length === 0) continue;
    const shown = columns[group.name] ?? usual;
    const used = Object.entries(shown).filter(([, cell]) =>
      rows.some((row) => cell(row, report.beside(row)) !== ""),
    );
    const table = [["", ...used.map(([name]) => name), ""]];
    let title = "";
    for (const row of rows) {
      if (row.scenario.title !== title)
        table.push([`${row.scenario.title} (${row.scenario.name})`]);
      ({ title } = row.scenario);
      const cells = used.map(([, cell]) => cell(row, report.beside(row)));
      table.push([`  ${row.subject}`, ...cells, notesOf(row).join("; ")]);
    }
    lines.push("", group.title, ...alignedLines(table));
  }
  return lines.join("\n");
}
