/**
 * The vitest runner that tries mutants one after another in one process. It queues the files itself: the loop of vitest's worker runs
 * every file that is added to its list.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { TestRunner } from "vitest";
import { jobVariable, type Job, type Line, type Trial, type Unit } from "./job.ts";

type File = Parameters<NonNullable<TestRunner["onAfterRunFiles"]>>[0][number];
type Suite = Parameters<TestRunner["onBeforeRunSuite"]>[0];
type Test = Parameters<TestRunner["onBeforeRunTask"]>[0];
interface WorkerFile {
  readonly filepath: string;
}

const job = JSON.parse(readFileSync(process.env[jobVariable]!, "utf8")) as Job;
const say = (line: Line): void => appendFileSync(job.results, `${JSON.stringify(line)}\n`);

/** The number of the active mutant; -1: none. */
let active = -1;
/** The mutants that the running test has reached, or the file outside of its tests. */
let reached = new Set<number>();
Object.assign(globalThis, {
  $mutant: job.trials
    ? (number: number) => number === active
    : (number: number) => (reached.add(number), false),
});

const testsOf = (task: Suite | Test): Test[] =>
  task.type === "test" ? [task] : task.tasks.flatMap(testsOf);
/** A test's name, preceded by the names of its suites. */
const nameOf = (task: Test): string => {
  const names = [task.name];
  for (let at = task.suite; at !== undefined; at = at.suite) names.unshift(at.name);
  return names.join(" > ");
};

/** The next step: a unit of a trial, or a repeat of its failed test without the mutant. */
interface Step {
  readonly trial: Trial;
  readonly unit: number;
  readonly failed?: string;
}

interface WorkerState {
  readonly evaluatedModules: {
    readonly idToModuleMap: Map<
      string,
      { promise?: unknown; exports?: unknown; evaluated: boolean; readonly importers: Set<string> }
    >;
  };
}

/** Modules that stay loaded: vitest's own, and the one PostgreSQL server of the process. */
const kept = /\/vitest\/dist\/|vitest-virtual-|\/@vitest\/|\/test\/support\/postgres\.ts$/;

/** Makes modules evaluate anew on their next import, as vitest does between isolated files. */
function forgetModules({ evaluatedModules }: WorkerState): void {
  for (const [path, node] of evaluatedModules.idToModuleMap) {
    if (kept.test(path)) continue;
    node.promise = undefined;
    node.exports = undefined;
    node.evaluated = false;
    node.importers.clear();
  }
}

// oxlint-disable-next-line import/no-default-export -- vitest takes a runner by its default export.
export default class MutantRunner extends TestRunner {
  #queue: WorkerFile[];
  #known: Map<string, WorkerFile>;
  #trials = [...(job.trials ?? [])];
  #step: Step | undefined;
  /** The first failed test of the running file. */
  #failed: string | undefined;
  #outside = new Set<number>();
  #imported: readonly number[] = [];
  /** True if modules were evaluated with a mutant in code that runs on import. */
  #spoilt = false;

  constructor(config: ConstructorParameters<typeof TestRunner>[0]) {
    super(config);
    this.#queue = (
      this as unknown as { workerState: { ctx: { files: WorkerFile[] } } }
    ).workerState.ctx.files;
    this.#known = new Map(this.#queue.map((file) => [file.filepath, file]));
    setInterval(() => say({ kind: "beat" }), 1_000).unref();
    if (job.trials === undefined) return;
    this.#queue.length = 0;
    this.#nextTrial();
  }

  override importFile(...file: Parameters<TestRunner["importFile"]>): unknown {
    const fresh = this.#step?.trial.fresh ?? true;
    if (file[1] === "collect" && (fresh || this.#spoilt)) {
      forgetModules((this as unknown as { workerState: WorkerState }).workerState);
      this.#spoilt = fresh && active !== -1;
    }
    return super.importFile(...file);
  }

  #nextTrial(): void {
    const trial = this.#trials.shift();
    active = trial?.mutant ?? -1;
    if (trial === undefined) return;
    say({ kind: "begin", mutant: trial.mutant });
    this.#enqueue({ trial, unit: 0 });
  }

  #enqueue(step: Step): void {
    this.#step = step;
    const { file } = step.trial.units[step.unit]!;
    this.#queue.push(this.#known.get(join(job.root, file))!);
  }

  #wanted(): Unit["tests"] {
    const { trial, unit, failed } = this.#step!;
    return failed === undefined ? trial.units[unit]!.tests : [failed];
  }

  /** Skips the tests that are not wanted, and the suites that are empty after that. */
  onCollected(files: File[]): void {
    this.#failed = undefined;
    this.#outside = new Set(reached);
    this.#imported = [...reached];
    reached = new Set();
    if (this.#step === undefined) return;
    const wanted = this.#wanted();
    const drop = (suite: Suite): void => {
      for (const task of suite.tasks) {
        if (task.type === "suite") drop(task);
        else if (wanted !== "all" && !wanted.includes(nameOf(task))) task.mode = "skip";
      }
      if (suite.tasks.every(({ mode }) => mode === "skip")) suite.mode = "skip";
    };
    files.forEach(drop);
  }

  override async onBeforeRunTask(test: Test): Promise<void> {
    if (this.#step !== undefined && this.#failed !== undefined) test.mode = "skip";
    for (const number of reached) this.#outside.add(number);
    reached = new Set();
    await super.onBeforeRunTask(test);
  }

  override onAfterRunTask(test: Test): void {
    super.onAfterRunTask(test);
    const failed = test.result?.state === "fail";
    if (failed) this.#failed ??= nameOf(test);
    if (job.trials !== undefined) return;
    const ms = Math.round(test.result?.duration ?? 0);
    const file = relative(job.root, test.file.filepath);
    say({ kind: "reached", file, test: nameOf(test), ms, mutants: [...reached], failed });
    reached = new Set();
  }

  override onAfterRunFiles(files: File[]): void {
    super.onAfterRunFiles(files);
    const [file] = files;
    const failed = file!.result?.state === "fail";
    if (job.trials === undefined) this.#sayOutside(file!, failed);
    else this.#conclude(file!, failed);
  }

  #sayOutside(file: File, failed: boolean): void {
    for (const number of reached) this.#outside.add(number);
    reached = new Set();
    const inTests = testsOf(file).reduce((sum, { result }) => sum + (result?.duration ?? 0), 0);
    const ms = Math.round((file.collectDuration ?? 0) + (file.result?.duration ?? 0) - inTests);
    const path = relative(job.root, file.filepath);
    const found = { mutants: [...this.#outside], imported: this.#imported };
    say({ kind: "reached", file: path, ms, ...found, failed });
  }

  #conclude(file: File, failed: boolean): void {
    const { trial, unit, failed: suspect } = this.#step!;
    const { mutant } = trial;
    const by = `${relative(job.root, file.filepath)}: ${suspect ?? this.#failed ?? "import or hooks"}`;
    if (suspect !== undefined) {
      say({ kind: "end", mutant, how: failed ? "doubtful" : "killed", by });
      if (!failed) this.#nextTrial();
    } else if (failed) {
      active = -1;
      this.#enqueue({ trial, unit, failed: this.#failed ?? testsOf(file).map(nameOf)[0] ?? "" });
    } else if (unit + 1 < trial.units.length) {
      this.#enqueue({ trial, unit: unit + 1 });
    } else {
      say({ kind: "end", mutant, how: "survived" });
      this.#nextTrial();
    }
  }
}
