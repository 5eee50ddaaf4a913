/**
 * Runs a `tollgate` command in this process. That saves the second that starting a process takes on a busy machine. For tests of
 * what a command does; `tollgate` (process.ts) runs it as users do.
 */
import { format } from "node:util";
import { vi } from "vitest";
import { runCommand } from "../../src/cli/run.ts";
import type { tollgate } from "./process.ts";

/** The same as `tollgate`. Run one at a time: the environment and the output are those of this process. */
export const tollgateHere: typeof tollgate = async (args, environment) => {
  let stdout = "";
  let stderr = "";
  const out = (text: unknown): true => ((stdout += String(text)), true);
  /** Takes the text at once, and calls the callback of the writer. */
  const written = (text: unknown, ...more: readonly unknown[]): true => {
    const done = more.at(-1);
    if (typeof done === "function") queueMicrotask(() => done());
    return out(text);
  };
  const error = (text: unknown): true => ((stderr += String(text)), true);
  const spies = [
    vi.spyOn(console, "log").mockImplementation((...words) => void out(`${format(...words)}\n`)),
    vi
      .spyOn(console, "error")
      .mockImplementation((...words) => void error(`${format(...words)}\n`)),
    vi.spyOn(process.stdout, "write").mockImplementation(written),
    vi.spyOn(process.stderr, "write").mockImplementation(error),
  ];
  const before = Object.keys(environment).map((name) => [name, process.env[name]] as const);
  const { exitCode } = process;
  const hangUps = process.listeners("SIGHUP");
  try {
    Object.assign(process.env, environment);
    process.exitCode = 0;
    await runCommand(args);
    return { code: process.exitCode, stdout, stderr };
  } finally {
    process.exitCode = exitCode;
    // A `serve` that could not start would end with its process. This process goes on, so remove its listeners.
    for (const listener of process.listeners("SIGHUP"))
      if (!hangUps.includes(listener)) process.off("SIGHUP", listener);
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    for (const spy of spies) spy.mockRestore();
  }
};
