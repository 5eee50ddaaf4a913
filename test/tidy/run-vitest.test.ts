/** A test run ends whatever processes a test has left behind. Vitest alone would wait for them for ever. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryDirectory } from "../support/postgres.ts";

interface Ran {
  readonly status: number;
  readonly left: readonly string[];
}
type Run = (
  command: readonly string[],
  options: { totalsFile: string; env: NodeJS.ProcessEnv; graceMs: number },
) => Promise<Ran>;
const file = new URL("../../scripts/run-vitest.mjs", import.meta.url).pathname;
const { runVitest } = (await import(file)) as { runVitest: Run };

/** A program that leaves a process which holds its output open, and writes its totals. `end` is the program's last statement. */
const program = (seconds: number, end: string) => `
  const left = require("node:child_process").spawn("sleep", ["${seconds}"], { detached: true });
  left.unref();
  for (const stream of left.stdio) stream.unref();
  require("node:fs").writeFileSync(process.env.TOLLGATE_TEST_TOTALS, "{}");
  ${end}`;

function run(text: string, graceMs: number): Promise<Ran> {
  const totalsFile = join(temporaryDirectory(), "totals.json");
  return runVitest([process.execPath, "-e", text], { totalsFile, env: process.env, graceMs });
}

it.skipIf(process.platform !== "linux").each([
  ["leaves a process succeeds, and the process is ended", 333, "", 0],
  [
    "waits for a process that it left succeeds once that process is ended",
    334,
    "left.stdout.ref();",
    0,
  ],
  ["never ends is ended, and fails", 335, "setInterval(() => {}, 1e9);", 1],
])("a test run that %s", async (_name, seconds, end, status) => {
  expect(await run(program(seconds, end), 300)).toEqual({ status, left: [`sleep ${seconds}`] });
});

it.skipIf(process.platform === "win32")(
  "a test run that a signal ends counts as failed",
  async () => {
    const text = `require("node:fs").writeFileSync(process.env.TOLLGATE_TEST_TOTALS, "{}"); process.kill(process.pid, "SIGKILL");`;
    expect(await run(text, 60_000)).toEqual({ status: 1, left: [] });
  },
);

it("a test run that leaves no process ends at once, with its exit code", async () => {
  const began = performance.now();
  const text = `require("node:fs").writeFileSync(process.env.TOLLGATE_TEST_TOTALS, "{}"); process.exitCode = 3;`;
  expect(await run(text, 60_000)).toEqual({ status: 3, left: [] });
  expect(performance.now() - began).toBeLessThan(30_000);
});
