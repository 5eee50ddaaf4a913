// `npm test`: sets up, runs vitest with the given arguments, and ends with the line `N passed, N failed`.
// `npm run test:long` is `--long`: runs the tests that have a longer form (test/support/long.ts), in that form.
// `npm run screenshots` is `--screenshots`: takes new pictures of the console (docs/screenshots).
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { buildConsole } from "./console.mjs";
import { program } from "./program.mjs";
import { runTests } from "./run-tests.mjs";
import { nodeBinary, root, setup, toolEnvironment } from "./setup.mjs";

/** The test files with a long form: they import the switch between the two forms. */
function filesWithLongForm() {
  const names = readdirSync(join(root, "test"), { recursive: true });
  return names
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => join("test", name))
    .filter((name) => readFileSync(join(root, name), "utf8").includes("support/long.ts"));
}

await setup();
await program(nodeBinary());
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
const { totals, left, unsteady } = await runTests(
  [
    nodeBinary(),
    join(root, "node_modules/vitest/vitest.mjs"),
    "run",
    "--reporter=default",
    `--reporter=${join(root, "scripts/final-line-reporter.ts")}`,
  ],
  {
    files: wanted,
    // Tests that measure or take pictures must pass at the first try.
    hasSecondTry: !isLong && !isTaking,
    cwd: root,
    env: {
      ...toolEnvironment(),
      // Only for the tests' own processes (test/support/own-memory.ts).
      GLIBC_TUNABLES:
        process.env.GLIBC_TUNABLES ??
        "glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=35651584:glibc.malloc.trim_threshold=71303168",
      ...(isLong ? { TOLLGATE_TEST_LONG: "1" } : {}),
      ...(isTaking ? { TOLLGATE_SCREENSHOTS: "1" } : {}),
    },
  },
);
for (const words of left) console.log(`Left behind by a test, ended now, to be mended: ${words}`);
for (const test of unsteady) console.log(`Passed at the second try only, to be mended: ${test}`);

if (totals.passed + totals.failed === 0) {
  console.error("No test ran.");
  totals.failed = 1;
}
const skipped = totals.skipped > 0 ? `, ${totals.skipped} skipped` : "";
console.log(`${totals.passed} passed, ${totals.failed} failed${skipped}`);
process.exitCode = totals.failed > 0 ? 1 : 0;
