/** docs/performance.md and its charts, generated from docs/performance.json: the last run of each group. */
import { groups, type Group, type GroupName } from "../scenarios.ts";
import { chartSvg, type Chart } from "./chart.ts";
import { numberText, usedColumns } from "./columns.ts";
import { howMeasured } from "./table.ts";
import type { Report, RunFacts, ShownRow } from "./shown.ts";

/** A run as stored: without its single rounds. */
interface KeptReport extends RunFacts {
  readonly rows: readonly ShownRow[];
}

/** docs/performance.json: the last run of each group. */
export type Kept = Readonly<Partial<Record<GroupName, KeptReport>>>;

/** Returns the stored runs after another run, whose groups replace the stored ones. */
export function keptWith(kept: Kept, report: Report): Kept {
  const rowsOf = ({ name }: Group) =>
    report.rows.flatMap(({ rounds: _rounds, ...row }) => (row.group === name ? [row] : []));
  return Object.fromEntries(
    groups.flatMap((group) => {
      const rows = rowsOf(group);
      const own = rows.length > 0 ? { ...report, rows } : kept[group.name];
      return own === undefined ? [] : [[group.name, own]];
    }),
  );
}

const begin = "<!-- figures: made from performance.json by `npm run docs` -->";
const end = "<!-- end of figures -->";
const anyBegin = /<!-- figures:[^>]*-->/;

/** The page with the figures between its marks. @throws Error if the marks are missing */
export function pageWith(page: string, kept: Kept): string {
  const from = anyBegin.exec(page);
  const to = page.indexOf(end);
  if (from === null || to < from.index)
    throw new Error("docs/performance.md has lost the marks around its figures");
  return `${page.slice(0, from.index)}${begin}\n\n${sections(kept)}\n${page.slice(to)}`;
}

const keptGroups = (kept: Kept): { group: Group; report: KeptReport }[] =>
  groups.flatMap((group) => {
    const report = kept[group.name];
    return report === undefined ? [] : [{ group, report }];
  });

const chartName = (group: Group): string => `performance-${group.name}.svg`;

const sections = (kept: Kept): string =>
  keptGroups(kept)
    .map(({ group, report }) =>
      [
        `### ${group.title}`,
        "",
        howMeasured(report),
        "",
        `![${group.title}](${chartName(group)})`,
        "",
        ...tableLines(group, report),
        "",
      ].join("\n"),
    )
    .join("\n");

function tableLines(group: Group, { rows }: KeptReport): string[] {
  const columns = usedColumns(group.name, rows).filter(([head]) => !busyHeads.has(head));
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const noted = rows.some(({ notes }) => notes.length > 0);
  const heads = ["", "", ...columns.map(([head]) => head), ...(noted ? [""] : [])];
  const body = rows.map((row, index) =>
    line([
      rows[index - 1]?.scenario === row.scenario ? "" : row.title,
      row.subject,
      ...columns.map(([, text]) => text(row)),
      ...(noted ? [row.notes.join("; ")] : []),
    ]),
  );
  return [line(heads), line(heads.map(() => "---")), ...body];
}

/** Columns for the person who runs the benchmark, not for readers of the page. */
const busyHeads = new Set(["gateway core", "load generator", "other cores"]);

/** The chart of each group, by file name. */
export const chartsOf = (kept: Kept): ReadonlyMap<string, string> =>
  new Map(
    keptGroups(kept).map(({ group, report }) => [
      chartName(group),
      chartSvg(chartOf(group, report)),
    ]),
  );

interface Measure {
  readonly unit: string;
  readonly value: (row: ShownRow) => number | undefined;
  readonly label: (value: number) => string;
}

const ofBare: Measure = {
  unit: "calls per second, as a share of the bare proxy's",
  value: ({ toBare, median }) => (toBare === undefined ? median.perSecond && 1 : toBare.perSecond),
  label: (value) => `${Math.round(value * 100)} %`,
};

/** The measure that the bars of each group show. */
const measures: Readonly<Record<GroupName, Measure>> = {
  calls: ofBare,
  bodies: ofBare,
  streams: { ...ofBare, unit: "frames per second, as a share of the bare proxy's" },
  latency: {
    unit: "median, milliseconds; shorter is better",
    value: ({ median }) => median.medianMs,
    label: (value) => `${numberText(value)} ms`,
  },
  held: {
    unit: "delay of frames at p99, milliseconds; shorter is better",
    value: ({ median }) => median.lateP99Ms,
    label: (value) => `${numberText(value)} ms`,
  },
  images: ofBare,
  tasks: {
    unit: "tasks submitted per second",
    value: ({ median }) => median.perSecond,
    label: numberText,
  },
};

function chartOf(group: Group, report: KeptReport): Chart {
  const { unit, value, label } = measures[group.name];
  const series = report.subjects
    .map(({ name }) => name)
    .filter((name) => report.rows.some(({ subject }) => subject === name));
  const titles = [...new Set(report.rows.map(({ title }) => title))];
  return {
    title: group.title,
    unit,
    series,
    sections: titles.map((title) => ({
      label: title,
      bars: report.rows.flatMap((row) => {
        const found = row.title === title ? value(row) : undefined;
        return found === undefined
          ? []
          : [{ series: series.indexOf(row.subject), value: found, label: label(found) }];
      }),
    })),
  };
}
