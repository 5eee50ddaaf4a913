/** A memory limit for a group of processes, as a container has. Linux only, and only for users who may create control groups. */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface MemoryGroup {
  /** The file to which a process writes its id to join the group, with all its children. */
  readonly members: string;
  /** How many of the group's processes the system has killed for lack of memory. */
  ended(): number;
  /** Removes the group, once no process runs in it. */
  remove(): void;
}

const kinds = [
  { root: "/sys/fs/cgroup/memory", bound: "memory.limit_in_bytes", events: "memory.oom_control" },
  { root: "/sys/fs/cgroup", bound: "memory.max", events: "memory.events" },
];

let count = 0;

/** Makes a group with a limit in bytes; undefined if that is not possible. */
export function memoryGroup(bytes: number): MemoryGroup | undefined {
  for (const { root, bound, events } of kinds) {
    const path = join(root, `tollgate-test-${process.pid}-${(count += 1)}`);
    try {
      mkdirSync(path);
    } catch {
      continue;
    }
    if (existsSync(join(path, bound))) {
      writeFileSync(join(path, bound), `${bytes}`);
      return {
        members: join(path, "cgroup.procs"),
        ended: () => Number(/^oom_kill (\d+)$/m.exec(readFileSync(join(path, events), "utf8"))![1]),
        remove: () => rmdirSync(path),
      };
    }
    rmdirSync(path);
  }
  return undefined;
}
