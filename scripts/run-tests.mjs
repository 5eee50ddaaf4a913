// Runs tests with vitest, and then the few files with a failed test once more. A test that passes only then is unsteady: it is
// reported, and must be mended. A file runs anew and after all others. A first try that failed half way leaves things behind that
// would fail an immediate retry: a stopped server, an empty account.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runVitest } from "./run-vitest.mjs";

/** More failed files than this have a real cause, and are not tried again. */
const secondTriesMax = 3;

/**
 * Runs `command` (vitest with the reporter of final-line-reporter.ts) for `files`, in vitest's form. `hasSecondTry`: failed files
 * are tried once more. Resolves with the totals `passed`, `failed` and `skipped`. `left` are the processes that tests left behind,
 * `unsteady` the tests that passed only at the second try.
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
  // Without totals vitest itself crashed: that is a failure, whatever its exit code.
  const totals = existsSync(totalsFile)
    ? JSON.parse(readFileSync(totalsFile, "utf8"))
    : { passed: 0, failed: 1, skipped: 0 };
  rmSync(folder, { recursive: true, force: true });
  if (status !== 0 && totals.failed === 0) totals.failed = 1;
  return { totals, left };
}
