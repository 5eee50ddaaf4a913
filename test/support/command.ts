/**
 * A `tollgate` command in this process: what it does and says, without the second that starting a process takes on a busy
 * machine. For tests that are about what a command does; `tollgate` (process.ts) runs it as its users do.
 */
import { format } from "node:util";
import { vi } from "vitest";
import { runCommand } from "../../src/cli/run.ts";
import type { tollgate } from "./process.ts";

/** The same as `tollgate`; one at a time, because the environment and what is printed are those of this process. */
export const tollgateHere: typeof tollgate = async (args, environment) => {
  let stdout = "";
  let stderr = "";
  const out = (text: unknown): true => ((stdout += String(text)), true);
  /** Takes it at once, and says so to whoever waits for that. */
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
    // A `serve` that could not start ends with its process, which this one goes on after.
    for (const listener of process.listeners("SIGHUP"))
      if (!hangUps.includes(listener)) process.off("SIGHUP", listener);
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    for (const spy of spies) spy.mockRestore();
  }
};
