/**
 * A vitest reporter that leaves the totals in the file named by TOLLGATE_TEST_TOTALS, for scripts/test.mjs
 * to print as the very last line. Errors outside of tests (a file that does not load, an unhandled
 * rejection) count as failures: a run with one of them has not passed.
 */
import { writeFileSync } from "node:fs";
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

// oxlint-disable-next-line import/no-default-export -- vitest loads a reporter by its default export
export default class FinalLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    for (const { fullName, module } of secondTries(modules))
      console.log(
        `Passed at the second try only, to be mended: ${module.relativeModuleId} > ${fullName}`,
      );
    const file = process.env["TOLLGATE_TEST_TOTALS"];
    if (file !== undefined) writeFileSync(file, JSON.stringify(count(modules, errors)));
  }
}
