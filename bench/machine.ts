/** The measured machine: core pinning, processor time and memory of processes. Only Linux reports them. */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";

const cores = availableParallelism();

/** True if `taskset` exists and there is more than one core to pin to. */
export const canPin =
  process.platform === "linux" && cores > 1 && spawnSync("taskset", ["--version"]).status === 0;

/** The command prefix that pins a measured process to its own core. */
export const onMeasuredCore: readonly string[] = canPin ? ["taskset", "-c", "0"] : [];

/** Cores for the load, the upstream and the database server. */
export const otherCores = canPin ? cores - 1 : cores;

/** Moves this process, and processes that it starts from now on, off the measured core. */
export function leaveMeasuredCore(): void {
  if (canPin) spawnSync("taskset", ["-a", "-p", "-c", `1-${cores - 1}`, String(process.pid)]);
}

/** For example `2 x AMD EPYC 7B13`. */
export const machineName = `${cores} x ${cpus()[0]?.model.trim() ?? "unknown processor"}`;

/** Processor time used so far, in microseconds, by process id. */
export type ProcessorTimes = ReadonlyMap<number, number>;

const readText = (path: string): string | undefined => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // The process or the thread has ended since.
    return undefined;
  }
};

/** Maps each running process to its parent. */
function parents(): Map<number, number> {
  const found = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const stat = readText(`/proc/${name}/stat`);
    // The name in brackets may itself contain brackets and spaces.
    const parent = stat?.slice(stat.lastIndexOf(")") + 4).split(" ")[0];
    if (parent !== undefined) found.set(Number(name), Number(parent));
  }
  return found;
}

/** A process and all its descendants; empty if the system does not report them. */
export function processTree(root: number): number[] {
  if (process.platform !== "linux") return [];
  const children = new Map<number, number[]>();
  for (const [id, parent] of parents()) children.set(parent, [...(children.get(parent) ?? []), id]);
  const all = [root];
  for (const id of all) all.push(...(children.get(id) ?? []));
  return all;
}

/** Microseconds used by all threads together, with nanosecond precision if the kernel provides it. */
function processorUs(id: number): number {
  let threads: string[];
  try {
    threads = readdirSync(`/proc/${id}/task`);
  } catch {
    return 0;
  }
  const ofThread = (thread: string): number =>
    Number(readText(`/proc/${id}/task/${thread}/schedstat`)?.split(" ")[0] ?? 0) / 1000;
  return threads.reduce((sum, thread) => sum + ofThread(thread), 0);
}

/** The processor time that each of these processes has used so far. */
export const processorTimes = (ids: readonly number[]): ProcessorTimes =>
  new Map(ids.map((id) => [id, processorUs(id)]));

/** Microseconds used between two readings. A process that ended in between is left out. */
export function usedUs(before: ProcessorTimes, after: ProcessorTimes): number {
  let sum = 0;
  for (const [id, us] of after) sum += Math.max(0, us - (before.get(id) ?? 0));
  return sum;
}

/** Busy time of the whole machine so far, in seconds, including time stolen by its host. */
export function machineBusySeconds(): number | undefined {
  const line = readText("/proc/stat")?.split("\n")[0];
  if (line === undefined) return undefined;
  const [user = 0, nice = 0, system = 0, , , irq = 0, soft = 0, steal = 0] = line
    .split(/\s+/)
    .slice(1)
    .map(Number);
  const ticksPerSecond = 100;
  return (user + nice + system + irq + soft + steal) / ticksPerSecond;
}

/** Memory of processes in kilobytes; shared memory is counted once if the system reports it. */
export function memoryKb(ids: readonly number[]): number {
  const ofProcess = (id: number): number => {
    const text = readText(`/proc/${id}/smaps_rollup`) ?? readText(`/proc/${id}/status`) ?? "";
    return Number((/^Pss:\s+(\d+)/m.exec(text) ?? /^VmRSS:\s+(\d+)/m.exec(text))?.[1] ?? 0);
  };
  return ids.reduce((sum, id) => sum + ofProcess(id), 0);
}
