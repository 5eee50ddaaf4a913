/** The columns of each group's table, on the terminal and in docs/performance.md. */
import type { GroupName } from "../scenarios.ts";
import type { ShownRow, Values } from "./shown.ts";

/** A number in readable form. */
export function numberText(value: number | undefined): string {
  if (value === undefined) return "";
  if (value >= 1_000) return Math.round(value).toLocaleString("en-US");
  if (value >= 100) return value.toFixed(0);
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

const percent = (value: number | undefined): string =>
  value === undefined ? "" : `${Math.round(value * 100)} %`;
const times = (value: number | undefined): string =>
  value === undefined ? "" : `x ${value.toFixed(2)}`;

/** A column: its head, and the text of its cell for a row. `bare` is the row of the bare proxy in the same scenario. */
export type Column = readonly [
  head: string,
  text: (row: ShownRow, bare: ShownRow | undefined) => string,
];

type Name = keyof Values;

const figure = (head: string, name: Name): Column => [head, (row) => numberText(row.median[name])];
const share = (head: string, name: Name): Column => [head, (row) => percent(row.median[name])];
const ofBare: Column = ["% of bare proxy", (row) => percent(row.toBare?.perSecond)];
const toCommit = (name: Name): Column => ["vs. commit", (row) => times(row.toCommit?.[name])];
const processor: readonly Column[] = [
  figure("CPU µs", "processorUs"),
  ["CPU vs. bare proxy", (row) => times(row.toBare?.processorUs)],
  ["CPU vs. commit", (row) => times(row.toCommit?.processorUs)],
];
const latency = [figure("median ms", "medianMs"), figure("p99 ms", "p99Ms")];
const first = [figure("TTFB ms", "firstMedianMs"), figure("TTFB p99 ms", "firstP99Ms")];
const busy = [
  share("gateway core", "subjectBusy"),
  share("load generator", "loadBusy"),
  share("other cores", "sideBusy"),
];
const ratios = [ofBare, toCommit("perSecond")];
const rate = [figure("calls/s", "perSecond"), ...ratios];

const added: Column = [
  "added ms",
  (row, bare) =>
    bare?.median.medianMs === undefined || row.median.medianMs === undefined || bare === row
      ? ""
      : (row.median.medianMs - bare.median.medianMs).toFixed(2),
];

const usual: readonly Column[] = [...rate, ...processor, ...latency, ...busy];

/** The columns of each group. */
const columnsOf: Readonly<Record<GroupName, readonly Column[]>> = {
  calls: usual,
  latency: [...latency, added, toCommit("medianMs"), ...first, ...processor],
  bodies: usual,
  streams: [figure("frames/s", "perSecond"), ...ratios, ...processor, ...first, ...busy],
  held: [
    figure("kB/stream", "streamKb"),
    figure("delay p99 ms", "lateP99Ms"),
    figure("delay ms", "medianMs"),
    toCommit("lateP99Ms"),
    figure("frames/s", "perSecond"),
    ...processor,
    ...busy,
  ],
  images: usual,
  tasks: usual,
};

/** The columns that have content for at least one of these rows, each with its cell text. */
export function usedColumns(
  group: GroupName,
  rows: readonly ShownRow[],
): readonly (readonly [head: string, text: (row: ShownRow) => string])[] {
  const bareOf = (row: ShownRow): ShownRow | undefined =>
    rows.find((one) => one.scenario === row.scenario && one.toBare === undefined);
  return columnsOf[group]
    .map(([head, text]) => [head, (row: ShownRow) => text(row, bareOf(row))] as const)
    .filter(([, text]) => rows.some((row) => text(row) !== ""));
}
