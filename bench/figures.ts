/** The figures of a measurement, and how rounds become one figure. */
import type { Scenario } from "./scenarios.ts";

/** What one round of one subject in one scenario came to. Shares of time are from 0 to 1 for each core. */
export interface Figures {
  /** Answers, or frames of streams, a second. */
  readonly perSecond: number;
  readonly medianMs: number;
  readonly p99Ms: number;
  /** To the first byte of the body; for streams only. */
  readonly firstMedianMs?: number;
  readonly firstP99Ms?: number;
  /** Processor time of the subject for each answer, its own database server included; microseconds. */
  readonly processorUs?: number;
  /** How busy the measured core was with the subject. */
  readonly subjectBusy?: number;
  /** How busy the load generator was, which has one thread. */
  readonly loadBusy: number;
  /** How busy the other cores were with load, upstream and database server together. */
  readonly sideBusy?: number;
  /** What each held stream takes of the subject's memory, kB, and how late its frames were, ms. */
  readonly streamKb?: number;
  readonly lateP99Ms?: number;
  /** Answers that were not as asked. */
  readonly failures: number;
}

/** All rounds of a subject in a scenario. */
export interface Row {
  readonly scenario: Scenario;
  readonly subject: string;
  readonly rounds: Figures[];
}

/** The median; NaN of nothing. */
export function middle(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  if (sorted.length % 2 === 1) return sorted[Math.floor(half)]!;
  return (sorted[half - 1]! + sorted[half]!) / 2 || Number.NaN;
}

/** The value below which that share of a sorted list lies; NaN of nothing. */
export const quantile = (sorted: Float64Array, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

type FigureName = keyof Figures;

/** The median of one figure over the rounds that have it; undefined where none has. */
export function middleOf(row: Row, name: FigureName): number | undefined {
  const values = row.rounds.flatMap((round) => round[name] ?? []);
  return values.length === 0 ? undefined : middle(values);
}

/** The median of each round's ratio to the same round of another subject; undefined where either lacks the figure. */
export function ratioOf(row: Row, to: Row | undefined, name: FigureName): number | undefined {
  const values = row.rounds.flatMap((round, index) => {
    const own = round[name];
    const other = to?.rounds[index]?.[name];
    return own === undefined || other === undefined ? [] : own / other;
  });
  return values.length === 0 ? undefined : middle(values);
}

const full = 0.92;

/** Whether the load, and not the subject, set the pace: it or its cores had no time left while the subject had. */
export function isLoadTheBottleneck(row: Row): boolean {
  const { connections } = row.scenario;
  // One connection, or held ones, are not meant to fill anything.
  if (connections === 1 || row.scenario.answer === "held") return false;
  const subject = middleOf(row, "subjectBusy") ?? 0;
  const load = middleOf(row, "loadBusy") ?? 0;
  return subject < full && load >= full;
}

/** Whether the cores beside the measured one were full while the subject's was not: the database or the upstream set the pace. */
export function isSideTheBottleneck(row: Row): boolean {
  if (row.scenario.connections === 1 || row.scenario.answer === "held") return false;
  return (middleOf(row, "subjectBusy") ?? 0) < full && (middleOf(row, "sideBusy") ?? 0) >= full;
}
