// Runs tests with vitest, and once more the few files in which one failed. A test that met a moment it was not written for
// passes then: it is named, and is a defect to mend. The file runs anew and after all others, for a first try that failed half
// way leaves behind what a second one in its place would stumble over: a server that is down, a purse that is empty.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runVitest } from "./run-vitest.mjs";

/** More files than these fail because something is wrong, and are not tried again. */
const secondTriesMax = 3;

/**
 * Runs `command` (vitest with the reporter of final-line-reporter.ts) for `files`, given as to vitest; `hasSecondTry`: whether
 * what fails is tried once more. Resolves with the totals `passed`, `failed` and `skipped`, with `left`, what tests left behind,
 * and with `unsteady`, the tests that passed at the second try only.
 *
 * @returns {Promise<{ totals: Record<"passed" | "failed" | "skipped", number>, left: string[], unsteady: string[] }>}
 */
export async function runTests(command, { files, hasSecondTry, ...options }) {
  const first = await run(command, files, options);
  const { totals, left } = first;
  const again = totals.again ?? [];
  const rest = again.reduce((sum, { failed }) => sum - failed, totals.failed);
  if (!hasSecondTry || again.length === 0 || again.length > secondTriesMax || rest > 0) {
    return { totals, left, unsteady: [] };
  }
  const result = { totals: { ...totals }, left: [...left], unsteady: [] };
  for (const { file, project, failures, ...counts } of again) {
    console.log(`\nOnce more, by itself: ${file}`);
    const only = project === "" ? [] : ["--project", project];
    const second = await run([...command, ...only], [file], options);
    result.left.push(...second.left);
    for (const state of ["passed", "failed", "skipped"]) {
      result.totals[state] += second.totals[state] - counts[state];
    }
    if (second.totals.failed === 0) result.unsteady.push(...failures);
  }
  return result;
}

async function run(command, files, options) {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-test-"));
  const totalsFile = join(folder, "totals.json");
  const { status, left } = await runVitest([...command, ...files], { ...options, totalsFile });
  // Without totals vitest itself fell over: that is a failure, whatever it exited with.
  const totals = existsSync(totalsFile)
    ? JSON.parse(readFileSync(totalsFile, "utf8"))
    : { passed: 0, failed: 1, skipped: 0 };
  rmSync(folder, { recursive: true, force: true });
  if (status !== 0 && totals.failed === 0) totals.failed = 1;
  return { totals, left };
}
