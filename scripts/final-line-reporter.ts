/**
 * A vitest reporter that writes the totals into the file named by TOLLGATE_TEST_TOTALS, for scripts/run-tests.mjs. Errors outside of
 * tests (a file that does not load, an unhandled rejection) count as failures: a run with one has not passed.
 */
import { writeFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import type { Reporter, SerializedError, TestCase, TestModule } from "vitest/node";

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/** A file with failures that may be tried once more, with its share of the totals. */
interface AgainFile extends Counts {
  readonly file: string;
  readonly project: string;
  /** Descriptions of the failures. */
  readonly failures: readonly string[];
}

/** The totals of a run. */
interface Totals extends Counts {
  readonly again: readonly AgainFile[];
}

/** The failed tests of a file. A test still pending at the end of the run gave no result, so it has not passed. */
const failedIn = (module: TestModule): TestCase[] =>
  [...module.children.allTests()].filter(
    (test) => !/^(?:passed|skipped)$/.test(test.result().state),
  );

/** Errors of a file outside its tests: of its loading, its hooks, and unhandled rejections. */
function errorsOf(module: TestModule, unhandled: readonly SerializedError[]): SerializedError[] {
  const ofSuites = [...module.children.allSuites()].flatMap((suite) => suite.errors());
  return [...module.errors(), ...ofSuites, ...unhandled];
}

/** The lines of a diff that differ; at most 12, because long texts differ in few. */
function differences(diff = ""): string {
  const lines = stripVTControlCharacters(diff).split("\n");
  const differing = lines.filter((line) => /^[-+] /.test(line)).slice(0, 12);
  return differing.map((line) => `\n  ${line.slice(0, 200)}`).join("");
}

/** Describes a failure: the message's first lines, and its place in our own files. */
function described(
  name: string,
  [error]: readonly (SerializedError & { diff?: string })[] = [],
): string {
  if (error === undefined) return name;
  const frame = error.stacks?.[0];
  const place = frame === undefined ? "" : ` (${frame.file}:${frame.line})`;
  return `${name}\n  ${error.message.split("\n", 6).join("\n  ").slice(0, 600)}${place}${differences(error.diff)}`;
}

/** Tests that look for races have one try: `retry: 0` (test/ledger/model). */
const hasOneTry = (test: TestCase): boolean => test.options.retry === 0;

function totalsOf(modules: readonly TestModule[], errors: readonly SerializedError[]): Totals {
  const totals = { passed: 0, failed: 0, skipped: 0 };
  const again: AgainFile[] = [];
  let owned = 0;
  for (const module of modules) {
    const unhandled = errors.filter((error) => error["VITEST_TEST_PATH"] === module.moduleId);
    owned += unhandled.length;
    const outside = errorsOf(module, unhandled);
    const tests = failedIn(module);
    const states = [...module.children.allTests()].map((test) => test.result().state);
    const counts = {
      passed: states.filter((state) => state === "passed").length,
      failed: tests.length + outside.length,
      skipped: states.filter((state) => state === "skipped").length,
    };
    for (const state of ["passed", "failed", "skipped"] as const) totals[state] += counts[state];
    if (counts.failed === 0 || tests.some(hasOneTry)) continue;
    const file = module.relativeModuleId;
    const failures = [
      ...tests.map((test) => described(`${file} > ${test.fullName}`, test.result().errors)),
      ...outside.map((error) => described(file, [error])),
    ];
    again.push({ ...counts, file, project: module.project.name, failures });
  }
  totals.failed += Math.max(0, errors.length - owned);
  return { ...totals, again };
}

// oxlint-disable-next-line import/no-default-export -- vitest loads a reporter by its default export
export default class FinalLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const file = process.env["TOLLGATE_TEST_TOTALS"];
    if (file !== undefined) writeFileSync(file, JSON.stringify(totalsOf(modules, errors)));
  }
}
