/** A run of tests ends, whatever a test has left behind: vitest itself waits for that for ever. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryDirectory } from "../support/postgres.ts";

interface Ran {
  readonly status: number | null;
  readonly left: readonly string[];
}
type Run = (
  command: readonly string[],
  options: { totalsFile: string; env: NodeJS.ProcessEnv; graceMs: number },
) => Promise<Ran>;
const file = new URL("../../scripts/run-vitest.mjs", import.meta.url).pathname;
const { runVitest } = (await import(file)) as { runVitest: Run };

/** Leaves a process of a session of its own, and its totals; `end`: then it ends, or waits for ever. */
const program = (seconds: number, end: string) => `
  const { spawn } = require("node:child_process");
  spawn("sleep", ["${seconds}"], { detached: true, stdio: "inherit" }).unref();
  require("node:fs").writeFileSync(process.env.TOLLGATE_TEST_TOTALS, "{}");
  ${end}`;

function run(text: string, graceMs: number): Promise<Ran> {
  const totalsFile = join(temporaryDirectory(), "totals.json");
  return runVitest([process.execPath, "-e", text], { totalsFile, env: process.env, graceMs });
}

it.skipIf(process.platform !== "linux").each([
  ["ends and leaves a process has that ended", 333, "", 0],
  ["waits for what it left is ended with it", 334, "setTimeout(() => {}, 1e9)", null],
])("a run that %s", async (_name, seconds, end, status) => {
  const ran = await run(program(seconds, end), 300);
  expect(ran.status).toBe(status);
  expect(ran.left).toContain(`sleep ${seconds}`);
  expect((await run(program(seconds, ""), 300)).left).toEqual([`sleep ${seconds}`]);
});

it("a run that leaves nothing ends at once, with its exit code", async () => {
  const began = performance.now();
  const text = `require("node:fs").writeFileSync(process.env.TOLLGATE_TEST_TOTALS, "{}"); process.exitCode = 3;`;
  expect(await run(text, 60_000)).toEqual({ status: 3, left: [] });
  expect(performance.now() - began).toBeLessThan(30_000);
});
