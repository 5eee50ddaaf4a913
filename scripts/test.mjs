// `npm test`: sets up, runs vitest with the given arguments, and ends with the line `N passed, N failed`.
// `npm run test:long` is `--long`: the tests that have a longer form (test/support/long.ts), in that form.
// `npm run screenshots` is `--screenshots`: takes the pictures of the console anew (docs/screenshots).
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildConsole } from "./console.mjs";
import { runVitest } from "./run-vitest.mjs";
import { nodeBinary, root, setup, toolEnvironment } from "./setup.mjs";

/** The test files that import the switch between the two forms. */
function filesWithLongForm() {
  const names = readdirSync(join(root, "test"), { recursive: true });
  return names
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => join("test", name))
    .filter((name) => readFileSync(join(root, name), "utf8").includes("support/long.ts"));
}

await setup();
await buildConsole();
const isLong = process.argv.includes("--long");
const isTaking = process.argv.includes("--screenshots");
const given = process.argv
  .slice(2)
  .filter((argument) => !/^--(?:long|screenshots)$/.test(argument));
const wanted = isTaking
  ? ["test/console/pictures.test.ts"]
  : isLong && given.length === 0
    ? filesWithLongForm()
    : given;
const folder = mkdtempSync(join(tmpdir(), "tollgate-test-"));
const totalsFile = join(folder, "totals.json");
const { status, left } = await runVitest(
  [
    nodeBinary(),
    join(root, "node_modules/vitest/vitest.mjs"),
    "run",
    "--reporter=default",
    `--reporter=${join(root, "scripts/final-line-reporter.ts")}`,
    ...wanted,
  ],
  {
    cwd: root,
    totalsFile,
    env: {
      ...toolEnvironment(),
      // For the tests' own processes alone (test/support/own-memory.ts).
      GLIBC_TUNABLES: process.env.GLIBC_TUNABLES ?? "glibc.malloc.hugetlb=1",
      ...(isLong ? { TOLLGATE_TEST_LONG: "1" } : {}),
      ...(isTaking ? { TOLLGATE_SCREENSHOTS: "1" } : {}),
    },
  },
);
for (const words of left) console.log(`Left behind by a test, ended now, to be mended: ${words}`);

// Without totals vitest itself fell over: that is a failure, whatever it exited with.
const totals = existsSync(totalsFile)
  ? JSON.parse(readFileSync(totalsFile, "utf8"))
  : { passed: 0, failed: 1, skipped: 0 };
rmSync(folder, { recursive: true, force: true });
if (status !== 0 && totals.failed === 0) totals.failed = 1;
if (totals.passed + totals.failed === 0) {
  console.error("No test ran.");
  totals.failed = 1;
}
const skipped = totals.skipped > 0 ? `, ${totals.skipped} skipped` : "";
console.log(`${totals.passed} passed, ${totals.failed} failed${skipped}`);
process.exitCode = totals.failed > 0 ? 1 : 0;
