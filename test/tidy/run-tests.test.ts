/** A failed test gets one retry by itself, in a fresh run of its file. A real error fails again. */
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryDirectory } from "../support/postgres.ts";

interface Result {
  readonly totals: { readonly passed: number; readonly failed: number; readonly skipped: number };
  readonly unsteady: readonly string[];
}
type RunTests = (
  command: readonly string[],
  options: { files: readonly string[]; hasSecondTry: boolean; cwd: string; env: NodeJS.ProcessEnv },
) => Promise<Result>;
const root = new URL("../..", import.meta.url).pathname;
const { runTests } = (await import(join(root, "scripts/run-tests.mjs"))) as { runTests: RunTests };

const files = {
  /** The first try leaves a server down, so a retry in the same process could not pass. */
  steady: `let isDown = false;
    it("meets a moment", () => {
      if (!existsSync("tried")) { writeFileSync("tried", ""); isDown = true; }
      expect(isDown ? "down" : "up").toBe("up");
    });
    it("needs it too", () => expect(isDown).toBe(false));
    it.skipIf(true)("is not for here", () => {});`,
  /** The same, if the file itself does not load. */
  loading: `if (!existsSync("loaded")) { writeFileSync("loaded", ""); throw new Error("not yet"); }
    it("is in a file that loads", () => {});`,
  /** An unhandled error. */
  unhandled: `it("forgets", async () => {
      if (!existsSync("forgot")) { writeFileSync("forgot", ""); void Promise.reject(new Error("lost")); }
      for (let turn = 0; turn < 9; turn += 1) await new Promise(setImmediate);
    });`,
  wrong: `it("is wrong", () => expect(1).toBe(2));`,
  races: `it("looks for races", { retry: 0 }, () => {
      if (!existsSync("raced")) { writeFileSync("raced", ""); throw new Error("a race"); }
    });`,
  right: `it("is right", () => {});`,
};

/** Runs files with these names. A number runs as many wrong ones. */
async function run(names: readonly (keyof typeof files)[], hasSecondTry = true): Promise<Result> {
  const cwd = temporaryDirectory();
  symlinkSync(join(root, "node_modules"), join(cwd, "node_modules"), "junction");
  const head = `import { existsSync, writeFileSync } from "node:fs"; import { expect, it } from "vitest";\n`;
  for (const [at, name] of names.entries())
    writeFileSync(join(cwd, `${name}-${at}.test.ts`), head + files[name]);
  const reporter = `--reporter=${join(root, "scripts/final-line-reporter.ts")}`;
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  // As in vitest.config.ts, the files of a run share one process.
  const shared = ["--no-isolate", "--maxWorkers=1"];
  const command = [process.execPath, vitest, "run", "--root", cwd, ...shared, reporter];
  const { totals, unsteady } = await runTests(command, {
    files: [],
    hasSecondTry,
    cwd,
    env: process.env,
  });
  const { passed, failed, skipped } = totals;
  return { totals: { passed, failed, skipped }, unsteady };
}

it("a test that passes in a second run of its file counts as passed, and is reported with its first error", async () => {
  const { totals, unsteady } = await run(["steady", "loading", "unhandled", "right"]);
  expect(totals).toEqual({ passed: 5, failed: 0, skipped: 1 });
  expect(unsteady).toHaveLength(4);
  expect(unsteady.join("\n")).toMatch(/steady-0\.test\.ts > meets a moment\n.*expected 'down'/);
  expect(unsteady.join("\n")).toContain("steady-0.test.ts > needs it too");
  expect(unsteady.join("\n")).toMatch(/loading-1\.test\.ts\n.*not yet/);
  expect(unsteady.join("\n")).toMatch(/unhandled-2\.test\.ts\n.*lost/);
});

it("a test that fails twice counts as one failure", async () => {
  expect(await run(["wrong", "right"])).toEqual({
    totals: { passed: 1, failed: 1, skipped: 0 },
    unsteady: [],
  });
});

it.each([
  ["a test that looks for races", ["races"], 1],
  ["such a test beside others", ["races", "steady"], 3],
  ["more than three files", ["steady", "wrong", "wrong", "wrong"], 5],
] as const)("there is no second run for %s", async (_name, names, failed) => {
  const { totals, unsteady } = await run(names);
  expect(totals.failed).toBe(failed);
  expect(unsteady).toEqual([]);
});

it("a run without second tries counts the first failures", async () => {
  expect((await run(["steady"], false)).totals.failed).toBe(2);
});
