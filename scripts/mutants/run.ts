/** Finds which tests reach which mutants, and runs each mutant. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Ended, Job, Line, Reached, Switches, Trial, Unit } from "./job.ts";
import { runJob } from "./process.ts";
import type { Mutant } from "./sites.ts";
import type { Switched } from "./weave.ts";

export interface Fate {
  readonly mutant: Mutant;
  readonly how: "killed" | "survived" | "unreached";
  readonly by?: string;
}

/** Every mutant with its number, by file. Later edits of the files do not affect the run. */
export function switchesOf(root: string, mutants: readonly Mutant[]): Switches {
  const byFile: Record<string, { text: string; mutants: Switched[] }> = {};
  for (const [number, { file, start, end, to }] of mutants.entries()) {
    byFile[file] ??= { text: readFileSync(join(root, file), "utf8"), mutants: [] };
    byFile[file].mutants.push({ number, start, end, to });
  }
  return byFile;
}

/** The repository and its switches, for every job of a run. */
type Place = Pick<Job, "root" | "switches">;

/** The test files in `count` parts of similar length. */
const inParts = <T>(all: readonly T[], count: number): T[][] =>
  Array.from({ length: count }, (_, at) =>
    all.filter((_one, index) => index % count === at),
  ).filter((part) => part.length > 0);

/**
 * Runs the test files once, and returns for each mutant the units of tests that reach it, fastest first. A file with a failed test
 * runs once more: on a busy machine the load is the usual cause.
 */
export async function findReachingTests(
  place: Place,
  mutants: readonly Mutant[],
  files: readonly string[],
  processes: number,
): Promise<readonly (readonly Unit[])[]> {
  const first = await Promise.all(inParts(files, processes).map((part) => reachIn(place, part)));
  let lines = first.flat();
  const again = [...new Set(lines.filter(({ failed }) => failed).map(({ file }) => file))];
  if (again.length > 0) {
    const second = await reachIn(place, again);
    lines = [...lines.filter(({ file }) => !again.includes(file)), ...second];
  }
  for (const { file, test } of lines.filter(({ failed }) => failed))
    console.error(`mutants: fails without a mutant: ${file} ${test ?? ""}`);
  const sound = lines.filter(({ failed }) => !failed);
  return mutants.map((_, number) =>
    files
      .flatMap((file) =>
        unitsOf(
          sound.filter((line) => line.file === file),
          number,
        ),
      )
      .toSorted((a, b) => a.ms - b.ms),
  );
}

/** Runs test files in one process, without a mutant. */
async function reachIn(place: Place, files: readonly string[]): Promise<Reached[]> {
  const lines: Reached[] = [];
  const outcome = await runJob({ ...place, files }, (line) => {
    if (line.kind === "reached") lines.push(line);
  });
  const ended = new Set(lines.filter(({ test }) => test === undefined).map(({ file }) => file));
  const missing = files.filter((file) => !ended.has(file));
  if (missing.length > 0) {
    const why = outcome.hung ? "the process was silent for too long" : "the process ended";
    throw new Error(`${missing.join(", ")} did not run: ${why}:\n${outcome.printed}`);
  }
  return lines;
}

/** The tests of one file that reach a mutant; all of them if its import does, or only its hooks do. */
function unitsOf(lines: readonly Reached[], number: number): Unit[] {
  const outside = lines.find(({ test }) => test === undefined);
  const tests = lines.filter(({ test, mutants }) => test !== undefined && mutants.includes(number));
  const file = lines[0]?.file;
  if (file === undefined || outside === undefined) return [];
  const sum = (some: readonly Reached[]) => some.reduce((ms, line) => ms + line.ms, outside.ms);
  const atImport = outside.imported?.includes(number) ?? false;
  if (tests.length > 0 && !atImport)
    return [{ file, tests: tests.map(({ test }) => test!), ms: sum(tests), atImport }];
  return atImport || outside.mutants.includes(number)
    ? [{ file, tests: "all", ms: sum(lines.filter((line) => line !== outside)), atImport }]
    : [];
}

/** The units that fit into the time, by their duration without a mutant; at least one. */
function within(units: readonly Unit[], msMax: number): readonly Unit[] {
  let ms = 0;
  return units.filter((unit, index) => (ms += unit.ms) <= msMax || index === 0);
}

interface TryOptions {
  readonly processes: number;
  /** The time limit for all tests of one mutant, in milliseconds. */
  readonly msMax: number;
  readonly onFate: (fate: Fate) => void;
}

/** Runs the mutants, `processes` at a time. */
export async function tryAll(
  place: Place,
  mutants: readonly Mutant[],
  unitsOfEach: readonly (readonly Unit[])[],
  { processes, msMax, onFate }: TryOptions,
): Promise<void> {
  const trials: Trial[] = [];
  for (const [mutant, units] of unitsOfEach.entries()) {
    if (units.length === 0) onFate({ mutant: mutants[mutant]!, how: "unreached" });
    else {
      const tried = within(units, msMax);
      trials.push({ mutant, units: tried, fresh: tried.some(({ atImport }) => atImport) });
    }
  }
  // Sorted so that neighbours share test files, whose modules stay loaded.
  const fileOf = ({ units }: Trial): string => units[0]!.file;
  trials.sort((a, b) =>
    fileOf(a) === fileOf(b) ? a.mutant - b.mutant : fileOf(a) < fileOf(b) ? -1 : 1,
  );
  const size = Math.ceil(trials.length / processes);
  const parts = Array.from({ length: processes }, (_, at) =>
    trials.slice(at * size, (at + 1) * size),
  );
  const end = ({ mutant, how, by }: Omit<Ended, "kind">) =>
    onFate({
      mutant: mutants[mutant]!,
      how: how === "survived" ? how : "killed",
      ...(by === undefined ? {} : { by }),
    });
  await Promise.all(parts.map((part) => tryPart(place, part, end)));
}

/** Runs the trials in one process after another: a new one follows if a mutant hangs, ends or spoils its process. */
async function tryPart(
  base: Place,
  trials: readonly Trial[],
  end: (ended: Omit<Ended, "kind">) => void,
): Promise<void> {
  let left = trials;
  while (left.length > 0) {
    const [first] = left;
    let begun: number | undefined;
    let doubtful: Ended | undefined;
    const done = new Set<number>();
    const files = [...new Set(left.flatMap(({ units }) => units.map(({ file }) => file)))];
    const { hung, printed } = await runJob({ ...base, files, trials: left }, (line: Line) => {
      if (line.kind === "begin") begun = line.mutant;
      if (line.kind !== "end") return;
      if (line.how === "doubtful" && line.mutant !== first!.mutant) doubtful = line;
      else {
        end(line);
        done.add(line.mutant);
      }
      begun = undefined;
    });
    if (begun === undefined && doubtful === undefined && done.size === 0)
      throw new Error(`no mutant ran:\n${printed}`);
    if (begun !== undefined) {
      end({ mutant: begun, how: "killed", by: hung ? "it does not end" : "the process ended" });
      done.add(begun);
    }
    left = left.filter(({ mutant }) => !done.has(mutant));
    // A doubtful mutant runs first in the next process, where no earlier mutant can be the cause.
    left = left.toSorted(
      (a, b) => Number(b.mutant === doubtful?.mutant) - Number(a.mutant === doubtful?.mutant),
    );
  }
}
