/** The figures as shown and written: plain data, with medians over the rounds and ratios to other subjects of the same run. */
import {
  isLoadTheBottleneck,
  isSideTheBottleneck,
  middleOf,
  ratioOf,
  type Figures,
  type Row,
} from "../figures.ts";
import type { GroupName } from "../scenarios.ts";
import { bareProxy } from "../subjects/bare.ts";

/** Figures by name; unknown ones are left out. */
export type Values = Readonly<Partial<Record<keyof Figures, number>>>;

/** The results of a subject in a scenario. */
export interface ShownRow {
  readonly scenario: string;
  readonly group: GroupName;
  readonly title: string;
  readonly subject: string;
  readonly median: Values;
  /** Medians of each round's ratio to the bare proxy, and to the commit that it is compared with. */
  readonly toBare?: Values | undefined;
  readonly toCommit?: Values | undefined;
  readonly failures: number;
  /** Warnings for readers of these figures. */
  readonly notes: readonly string[];
}

interface MeasuredRow extends ShownRow {
  readonly rounds: readonly Values[];
}

/** The conditions of a run. */
export interface RunFacts {
  readonly date: string;
  readonly commit: string;
  readonly node: string;
  readonly machine: string;
  /** True if the measured process had its own core. */
  readonly pinned: boolean;
  readonly rounds: number;
  readonly seconds: number;
  /** Subjects in their order, each with the subject that it is compared with beside the bare proxy. */
  readonly subjects: readonly { readonly name: string; readonly against?: string | undefined }[];
  /** Cores used by other processes on the machine during the run; absent if the system does not report it. */
  readonly othersBusy?: number | undefined;
}

/** A whole run. */
export interface Report extends RunFacts {
  readonly rows: readonly MeasuredRow[];
}

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

/** Rounds to four significant digits, the most that a measurement supports. */
const rounded = (value: number): number => Number(value.toPrecision(4));

const valuesOf = (value: (name: keyof Figures) => number | undefined): Values =>
  Object.fromEntries(
    names.flatMap((name) => {
      const found = value(name);
      return found === undefined || !Number.isFinite(found) ? [] : [[name, rounded(found)]];
    }),
  );

/** Makes the report of a run. */
export function reportOf(facts: RunFacts, rows: readonly Row[]): Report {
  const find = (row: Row, subject: string | undefined): Row | undefined =>
    rows.find((one) => one.scenario === row.scenario && one.subject === subject);
  const ratios = (row: Row, to: Row | undefined): Values | undefined =>
    to === undefined || to === row ? undefined : valuesOf((name) => ratioOf(row, to, name));
  const shown = rows.map((row): MeasuredRow => {
    const against = facts.subjects.find(({ name }) => name === row.subject)?.against;
    return {
      scenario: row.scenario.name,
      group: row.scenario.group,
      title: row.scenario.title,
      subject: row.subject,
      median: valuesOf((name) => middleOf(row, name)),
      toBare: ratios(row, find(row, bareProxy.name)),
      toCommit: ratios(row, find(row, against)),
      failures: failuresOf(row),
      notes: notesOf(row),
      rounds: row.rounds.map((round) => valuesOf((name) => round[name])),
    };
  });
  return { ...facts, rows: shown };
}

const failuresOf = (row: Row): number => row.rounds.reduce((sum, one) => sum + one.failures, 0);

function notesOf(row: Row): string[] {
  const failures = failuresOf(row);
  const wrong = failures > 0 ? [`${failures} wrong answers`] : [];
  if (row.rounds.some(({ perSecond }) => perSecond === 0))
    return [...wrong, "a round ended before any answer"];
  if (isLoadTheBottleneck(row)) return [...wrong, "the load generator is the bottleneck"];
  if (isSideTheBottleneck(row)) return [...wrong, "upstream or database is the bottleneck"];
  return wrong;
}
