// `npm run check`, the static checks. Code: formatting, type-aware lint with the import rules, types, dead code, sleeps in tests,
// functions in the old space, duplicated code. Words: generated documentation, citations, sentences of pages and comments, titles of tests.
// Every step runs, so that one run reports all problems.
import { spawnSync } from "node:child_process";
import { root, setup, toolEnvironment } from "./setup.mjs";

const steps = [
  ["formatting", "oxfmt --check", "npm run format"],
  ["lint", "oxlint --type-aware --quiet"],
  ["types", "tsc -p ."],
  // The package runs on Node 22, whose standard library has less than the packaged Node's.
  ["types of the package", "tsc -p tsconfig.package.json"],
  ["types of the console", "tsc -p console"],
  ["types of the API", "node scripts/console-types.ts --check", "npm run console:types"],
  ["dead code", "knip --no-progress"],
  ["generated docs", "node scripts/docs.ts --check", "npm run docs"],
  ["citations", "node scripts/citations.ts"],
  ["prose", "node scripts/prose.ts"],
  ["comments", "node scripts/comments.ts"],
  ["titles", "node scripts/titles.ts"],
  ["sleeps", "node scripts/sleeps.ts"],
  ["literals", "node scripts/literals.ts"],
  ["duplicates", "node scripts/duplicates.ts"],
];

await setup();
const failed = [];
for (const [name, command, remedy] of steps) {
  const started = Date.now();
  const { status, error } = spawnSync(command, {
    cwd: root,
    env: toolEnvironment(),
    stdio: "inherit",
    shell: true,
  });
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  if (status === 0) {
    console.log(`check: ${name} ok (${seconds} s)`);
  } else {
    const how = error?.message ?? `exit ${status}`;
    const hint = remedy === undefined ? "" : `; \`${remedy}\` mends it`;
    console.error(`check: ${name} FAILED (${seconds} s, ${command}: ${how})${hint}`);
    failed.push(name);
  }
}
if (failed.length > 0) {
  console.error(`check: FAILED: ${failed.join(", ")}`);
  process.exitCode = 1;
} else {
  console.log("check: all ok");
}
