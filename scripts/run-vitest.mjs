// Runs vitest to an end. It waits for the output of each of its processes to close, for ever: a process that a test left
// behind holds that open, and then a whole run of passed tests did not end.
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** What the reporter (final-line-reporter.ts) is told by: the file that it leaves the totals in. */
const totalsVariable = "TOLLGATE_TEST_TOTALS";

/** What still runs of all that was started with this file of totals, and what it was started as. Linux only. */
function startedWith(totalsFile) {
  if (process.platform !== "linux") return [];
  const mark = `${totalsVariable}=${totalsFile}\0`;
  return readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      // One that has ended, and whose parent has not asked, has no environment.
      if (!`${readFileSync(`/proc/${pid}/environ`, "utf8")}\0`.includes(mark)) return [];
      const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll(/[\0\s]+/g, " ");
      return [{ pid: Number(pid), words: words.trim().slice(0, 200) }];
    } catch {
      return []; // It ended meanwhile, or is another user's.
    }
  });
}

/**
 * What outlives vitest by more than `graceMs`, which it is then ended after. Shells that remove directories of tests do not
 * count (test/support/postgres.ts).
 */
async function endWhatIsLeft(totalsFile, graceMs) {
  const deadline = Date.now() + graceMs;
  while (Date.now() < deadline && startedWith(totalsFile).length > 0) await sleep(100);
  return end(startedWith(totalsFile));
}

/** Ends processes; what they were started as. */
function end(processes) {
  for (const { pid } of processes) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It ended by itself.
    }
  }
  return processes.map(({ words }) => words);
}

/**
 * Runs a command that leaves its totals in a file, with the given environment and ours; it has `graceMs` to end after that,
 * and so has what it started. Resolves with its exit code (1 where a signal ended it) and with what was left behind.
 * SIGINT and SIGTERM are handed on.
 */
export async function runVitest(command, { totalsFile, env, cwd, graceMs = 20_000 }) {
  const child = spawn(command[0], command.slice(1), {
    cwd,
    stdio: "inherit",
    env: { ...env, [totalsVariable]: totalsFile },
  });
  const hand = (signal) => child.kill(signal);
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, hand);
  const ended = new Promise((resolve) => {
    child.once("error", () => resolve(1));
    child.once("exit", (code) => resolve(code ?? 1));
  });
  const watching = new AbortController();
  const watched = watch();
  const status = await ended;
  watching.abort();
  for (const signal of ["SIGINT", "SIGTERM"]) process.off(signal, hand);
  return { status, left: [...(await watched), ...(await endWhatIsLeft(totalsFile, graceMs))] };

  /** Once the totals are there, ends what keeps it from ending; where it does not end then, itself. */
  async function watch() {
    const { signal } = watching;
    const pause = (ms) => sleep(ms, undefined, { signal }).catch(() => {});
    while (!signal.aborted && !existsSync(totalsFile)) await pause(500);
    await pause(graceMs);
    if (signal.aborted) return [];
    const held = end(startedWith(totalsFile).filter(({ pid }) => pid !== child.pid));
    await pause(graceMs);
    if (!signal.aborted) child.kill("SIGKILL");
    return held;
  }
}
