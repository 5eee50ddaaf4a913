/**
 * A vitest reporter that leaves the totals in the file named by TOLLGATE_TEST_TOTALS, for scripts/test.mjs
 * to print as the very last line. Errors outside of tests (a file that does not load, an unhandled
 * rejection) count as failures: a run with one of them has not passed.
 */
import { writeFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import type { Reporter, SerializedError, TestCase, TestModule } from "vitest/node";

/** What a run came to. */
interface Totals {
  passed: number;
  failed: number;
  skipped: number;
}

function count(modules: readonly TestModule[], errors: readonly SerializedError[]): Totals {
  const totals: Totals = { passed: 0, failed: errors.length, skipped: 0 };
  for (const module of modules) {
    totals.failed += module.errors().length;
    for (const suite of module.children.allSuites()) totals.failed += suite.errors().length;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      // A test still pending when the run is over never gave a result: it has not passed.
      if (state === "passed" || state === "skipped") totals[state] += 1;
      else totals.failed += 1;
    }
  }
  return totals;
}

/** The tests that failed, were tried again, and passed. */
function secondTries(modules: readonly TestModule[]): TestCase[] {
  return modules
    .flatMap((module) => [...module.children.allTests()])
    .filter((test) => test.diagnostic()?.flaky === true);
}

/** The lines in which what was expected and what came differ; long texts differ in few. */
function differences(diff = ""): string {
  const lines = stripVTControlCharacters(diff).split("\n");
  const differing = lines.filter((line) => /^[-+] /.test(line)).slice(0, 12);
  return differing.map((line) => `\n  ${line.slice(0, 200)}`).join("");
}

/** What the first try failed with: the message's first lines, and where in our own files. */
function firstError(test: TestCase): string {
  const [error] = test.result().errors ?? [];
  if (error === undefined) return "";
  const frame = error.stacks?.[0];
  const place = frame === undefined ? "" : ` (${frame.file}:${frame.line})`;
  return `\n  ${error.message.split("\n", 6).join("\n  ").slice(0, 600)}${place}${differences(error.diff)}`;
}

// oxlint-disable-next-line import/no-default-export -- vitest loads a reporter by its default export
export default class FinalLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    for (const test of secondTries(modules)) {
      const name = `${test.module.relativeModuleId} > ${test.fullName}`;
      console.log(`Passed at the second try only, to be mended: ${name}${firstError(test)}`);
    }
    const file = process.env["TOLLGATE_TEST_TOTALS"];
    if (file !== undefined) writeFileSync(file, JSON.stringify(count(modules, errors)));
  }
}
