/** A measured process: started on its core, stopped in order, and never left running. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { onMeasuredCore } from "../machine.ts";

export interface Started {
  readonly pid: number;
  /** Its output until it was ready. */
  readonly output: string;
  /** Sends SIGTERM, then SIGKILL if it does not end. */
  readonly stop: () => Promise<void>;
}

interface StartOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Matches the output of a ready process. */
  readonly ready: RegExp;
}

const startMs = 120_000;
const stopMs = 20_000;

/**
 * Starts `node ...args`, and waits until its output matches `ready`.
 * @throws Error with its output if it ends before, or takes more than two minutes
 */
export async function startProcess(
  args: readonly string[],
  { env, cwd, ready }: StartOptions,
): Promise<Started> {
  const [command, ...before] = [...onMeasuredCore, process.execPath];
  const child = spawn(command, [...before, ...args], {
    env: env ?? process.env,
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  let errors = "";
  child.stderr.on("data", (bytes: Buffer) => (errors = (errors + bytes.toString()).slice(-4_000)));
  const lines = createInterface({ input: child.stdout });
  const ended = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => resolve(`ended with ${code ?? signal}`));
  });
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), stopMs);
    await ended;
    clearTimeout(timer);
  };
  const isReady = new Promise<undefined>((resolve) => {
    lines.on("line", (line) => {
      if (output.length < 100_000) output += `${line}\n`;
      if (ready.test(output)) resolve(undefined);
    });
  });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve("was not ready in two minutes"), startMs);
  });
  const failure = await Promise.race([isReady, ended, late]);
  clearTimeout(timer);
  if (failure !== undefined) {
    await stop();
    throw new Error(`node ${args.join(" ")} ${failure}:\n${output}${errors}`);
  }
  return { pid: child.pid!, output, stop };
}
