/** The processes under measurement: each on its own core where the system can pin them. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { createInterface } from "node:readline";

/** Whether `taskset` is here and there is more than one core to pin to. */
export const canPin =
  process.platform === "linux" &&
  availableParallelism() > 1 &&
  spawnSync("taskset", ["--version"]).status === 0;

/** The core of the process under measurement; the load, the upstream and the database server share the others. */
const measuredCore = "0";
const otherCores = `1-${availableParallelism() - 1}`;

/** Moves this process, and what it starts from now on, off the measured core. */
export function leaveMeasuredCore(): void {
  if (canPin) spawnSync("taskset", ["-a", "-p", "-c", otherCores, String(process.pid)]);
}

export interface Started {
  readonly child: ChildProcess;
  readonly output: string;
}

/** Starts `node ...args` on the measured core and waits until its output matches `ready`. */
export function startMeasured(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  ready: RegExp,
): Promise<Started> {
  const command = canPin ? ["taskset", "-c", measuredCore, process.execPath] : [process.execPath];
  const child = spawn(command[0]!, [...command.slice(1), ...args], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  return new Promise((resolve, reject) => {
    let output = "";
    const lines = createInterface({ input: child.stdout });
    lines.on("line", (line) => {
      output += `${line}\n`;
      if (ready.test(output)) resolve({ child, output });
    });
    child.once("exit", (code) =>
      reject(new Error(`${args.join(" ")} ended with code ${code} before it was ready`)),
    );
  });
}

/** Stops a process and waits for its end. */
export async function stop({ child }: Started): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await ended;
}

/**
 * Processor time that a process has used so far, in microseconds, all its threads together; undefined where the system
 * does not tell. It counts what the process did, whatever else the machine was doing: wall time does not.
 */
export function processorUs({ child }: Started): number | undefined {
  if (process.platform !== "linux") return undefined;
  const threads = `/proc/${child.pid}/task`;
  const ofThread = (id: string): number => {
    try {
      return Number(readFileSync(`${threads}/${id}/schedstat`, "utf8").split(" ")[0]) / 1000;
    } catch {
      // It ended meanwhile.
      return 0;
    }
  };
  return readdirSync(threads).reduce((sum, id) => sum + ofThread(id), 0);
}

/** Resident memory of a process in megabytes; undefined where the system does not tell. */
export function residentMegabytes({ child }: Started): number | undefined {
  if (process.platform !== "linux") return undefined;
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1];
  return kilobytes === undefined ? undefined : Math.round(Number(kilobytes) / 1024);
}
