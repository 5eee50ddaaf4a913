/** The benchmark's table: each figure as a ratio to the bare proxy of the same round, median over the rounds. */

export interface Measured {
  readonly name: string;
  /** Requests per second at 128 connections, whole answers, by round. */
  readonly whole: number[];
  /** Content frames per second at 128 connections, streamed answers, by round. */
  readonly frames: number[];
  /** The same with the upstream speaking messages. */
  readonly convertedWhole: number[];
  readonly convertedFrames: number[];
  /** Processor microseconds of the process per whole answer, direct and converted, by round. */
  readonly directUs: number[];
  readonly convertedUs: number[];
  /** Median latency at one connection in milliseconds, by round. */
  readonly oneMs: number[];
  failures: number;
  memoryMb: number | undefined;
}

interface ReportOptions {
  readonly rounds: number;
  readonly seconds: number;
  readonly pinned: boolean;
}

/** Prints the table. The first subject is what the others are compared with. */
export function printReport(
  measured: readonly Measured[],
  { rounds, seconds, pinned }: ReportOptions,
): void {
  const [bare] = measured;
  if (!bare) return;
  const pins = pinned ? "the measured process alone on its core" : "cores shared";
  console.log(
    `\nChat completions at 128 connections; ${rounds} rounds of ${seconds} s, taken in turn; ${pins}.\n`,
  );
  const header = [
    "",
    "direct, requests/s",
    "direct, frames/s",
    "to messages, requests/s",
    "to messages, frames/s",
    "processor, direct",
    "processor, to messages",
    "added at 1 connection",
    "memory",
  ];
  const rows = measured.map((row) => [
    row.name,
    share(row.whole, bare.whole),
    share(row.frames, bare.frames),
    share(row.convertedWhole, bare.convertedWhole),
    share(row.convertedFrames, bare.convertedFrames),
    times(row.directUs, bare.directUs),
    times(row.convertedUs, bare.convertedUs),
    row === bare
      ? `- (${middle(row.oneMs).toFixed(2)} ms)`
      : `+${middle(differences(row.oneMs, bare.oneMs)).toFixed(2)} ms`,
    row.memoryMb === undefined ? "?" : `${row.memoryMb} MB`,
  ]);
  const widths = header.map((_, column) =>
    Math.max(...[header, ...rows].map((row) => row[column]!.length)),
  );
  for (const row of [header, ...rows])
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("  ")
        .trimEnd(),
    );
  console.log(
    "\nPercentages are medians of each round's ratio to the bare proxy of the same round; in brackets the median itself.",
  );
}

/** The median. */
export const middle = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
const ratios = (values: readonly number[], base: readonly number[]): number[] =>
  values.map((value, index) => value / base[index]!);
const differences = (values: readonly number[], base: readonly number[]): number[] =>
  values.map((value, index) => value - base[index]!);
/** A ratio with the figure it is of. */
const share = (values: readonly number[], base: readonly number[]): string =>
  `${percent(ratios(values, base))} (${Math.round(middle(values))})`;
/** How many times the bare proxy's processor time, with the time itself. */
const times = (values: readonly number[], base: readonly number[]): string =>
  values.length === 0
    ? "?"
    : `x ${middle(ratios(values, base)).toFixed(2)} (${middle(values).toFixed(0)} us)`;
const percent = (values: readonly number[]): string => `${Math.round(middle(values) * 100)} %`;
