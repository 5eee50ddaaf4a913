// Runs vitest to an end. vitest waits forever for the output of each of its processes to close. A process that a test left behind
// keeps that output open, and then a whole run of passed tests did not end.
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** The variable that names the file for the totals of the reporter (final-line-reporter.ts). */
const totalsVariable = "TOLLGATE_TEST_TOTALS";

/** Running processes that were started with this totals file, with their command lines. Linux only. */
function startedWith(totalsFile) {
  if (process.platform !== "linux") return [];
  const mark = `${totalsVariable}=${totalsFile}\0`;
  return readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      // A zombie process has no environment.
      if (!`${readFileSync(`/proc/${pid}/environ`, "utf8")}\0`.includes(mark)) return [];
      const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll(/[\0\s]+/g, " ");
      return [{ pid: Number(pid), words: words.trim().slice(0, 200) }];
    } catch {
      return []; // It has ended since, or belongs to another user.
    }
  });
}

/**
 * Kills processes that outlive vitest by more than `graceMs`, and returns their command lines. Shells that remove directories of
 * tests do not count (test/support/postgres.ts).
 */
async function killLeftovers(totalsFile, graceMs) {
  const deadline = Date.now() + graceMs;
  while (Date.now() < deadline && startedWith(totalsFile).length > 0) await sleep(100);
  return end(startedWith(totalsFile));
}

/** Kills processes, and returns their command lines. */
function end(processes) {
  for (const { pid } of processes) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has already ended.
    }
  }
  return processes.map(({ words }) => words);
}

/**
 * Runs a command that writes its totals into a file, with the given environment and that variable. After the totals it has `graceMs`
 * to end, and so have processes that it started. Resolves with its exit code (1 if a signal ended it) and with the processes left
 * behind. SIGINT and SIGTERM are forwarded.
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
  return { status, left: [...(await watched), ...(await killLeftovers(totalsFile, graceMs))] };

  /** Once the totals exist, kills processes that keep vitest from ending; if it still does not end, kills it too. */
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
