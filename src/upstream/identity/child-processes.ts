/**
 * Ends the programs that a library starts, if they are not done in time. AWS's library starts the `credential_process` of a profile and waits
 * for it without a limit: a program that hangs would stay, and another one would be started for each try.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { ChildProcess } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";

/** The signal that ends the programs of the current work. */
const ending = new AsyncLocalStorage<AbortSignal>();

let isWatching = false;

/** Node tells of each program that it starts, within the work that starts it. */
function watch(): void {
  if (isWatching) return;
  isWatching = true;
  subscribe("child_process", (message) => {
    const { process: program } = message as { readonly process: ChildProcess };
    const signal = ending.getStore();
    // The library tries its next source, which may be the same program, after the first was ended. Node tells before it starts one.
    if (signal?.aborted === true) program.once("spawn", () => end(program));
    else signal?.addEventListener("abort", () => end(program), { once: true });
  });
}

/** Runs `work`. The programs that it starts are killed when `signal` aborts, and those that it starts later at once. */
export function endingPrograms<Result>(
  signal: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result> {
  watch();
  return ending.run(signal, work);
}

/** Its own child processes keep its pipes: their next write fails then, which ends most programs. */
function end(program: ChildProcess): void {
  program.kill("SIGKILL");
  program.stdout?.destroy();
  program.stderr?.destroy();
}
