/**
 * Ends the programs that a library starts, if they are not done in time. AWS's library starts the `credential_process` of a profile and waits
 * for it without a limit: a program that hangs would stay, and another one would be started for each try.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { ChildProcess } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";

/** The programs that the current work has started. */
const startedHere = new AsyncLocalStorage<ChildProcess[]>();

let isWatching = false;

/** Node tells of each program that it starts, within the work that starts it. */
function watch(): void {
  if (isWatching) return;
  isWatching = true;
  subscribe("child_process", (message) => {
    startedHere.getStore()?.push((message as { readonly process: ChildProcess }).process);
  });
}

/** Runs `work`. When `signal` aborts, the programs that it has started are killed. */
export function endingPrograms<Result>(
  signal: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result> {
  watch();
  const programs: ChildProcess[] = [];
  signal.addEventListener("abort", () => programs.forEach(end), { once: true });
  return startedHere.run(programs, work);
}

/** Its own child processes keep its pipes: their next write fails then, which ends most programs. */
function end(program: ChildProcess): void {
  program.kill("SIGKILL");
  program.stdout?.destroy();
  program.stderr?.destroy();
}
