/** The figures of a measurement, and how several rounds are combined into one figure. */
import type { Scenario } from "./scenarios.ts";

/** The figures of one round of one subject in one scenario. Shares of time are from 0 to 1 per core. */
export interface Figures {
  /** Answers per second; for streams, frames per second. */
  readonly perSecond: number;
  readonly medianMs: number;
  readonly p99Ms: number;
  /** Milliseconds to the first byte of the body; for streams only. */
  readonly firstMedianMs?: number;
  readonly firstP99Ms?: number;
  /** Processor time of the subject per answer, its own database server included; microseconds. */
  readonly processorUs?: number;
  /** The share of the measured core that the subject used. */
  readonly subjectBusy?: number;
  /** The share of one core that the load generator used; it has one thread. */
  readonly loadBusy: number;
  /** The share of the other cores that load, upstream and database server used together. */
  readonly sideBusy?: number;
  /** Memory of the subject per held stream, in kB, and the lateness of its frames, in ms. */
  readonly streamKb?: number;
  readonly lateP99Ms?: number;
  /** Wrong answers. */
  readonly failures: number;
}

/** All rounds of a subject in a scenario. */
export interface Row {
  readonly scenario: Scenario;
  readonly subject: string;
  readonly rounds: Figures[];
}

/** The median; NaN for an empty list. */
export function middle(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  if (sorted.length % 2 === 1) return sorted[Math.floor(half)]!;
  return (sorted[half - 1]! + sorted[half]!) / 2 || Number.NaN;
}

/** The quantile `share` of a sorted list; NaN for an empty list. */
export const quantile = (sorted: Float64Array, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

type FigureName = keyof Figures;

/** The median of one figure over the rounds that have it; undefined if none has it. */
export function middleOf(row: Row, name: FigureName): number | undefined {
  const values = row.rounds.flatMap((round) => round[name] ?? []);
  return values.length === 0 ? undefined : middle(values);
}

/** The median of each round's ratio to the same round of another subject; undefined if no round has both figures. */
export function ratioOf(row: Row, to: Row | undefined, name: FigureName): number | undefined {
  const values = row.rounds.flatMap((round, index) => {
    const own = round[name];
    const other = to?.rounds[index]?.[name];
    return own === undefined || other === undefined ? [] : own / other;
  });
  return values.length === 0 ? undefined : middle(values);
}

const full = 0.92;

/** True if the load limited the rate: it was fully busy while the subject was not. */
export function isLoadTheBottleneck(row: Row): boolean {
  const { connections } = row.scenario;
  // One connection, or held ones, are not meant to saturate anything.
  if (connections === 1 || row.scenario.answer === "held") return false;
  const subject = middleOf(row, "subjectBusy") ?? 0;
  const load = middleOf(row, "loadBusy") ?? 0;
  return subject < full && load >= full;
}

/** True if the cores beside the measured one were full while the subject's was not: the database or the upstream limited the rate. */
export function isSideTheBottleneck(row: Row): boolean {
  if (row.scenario.connections === 1 || row.scenario.answer === "held") return false;
  return (middleOf(row, "subjectBusy") ?? 0) < full && (middleOf(row, "sideBusy") ?? 0) >= full;
}
