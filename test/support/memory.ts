/** Measures the memory of a gateway that is a process of its own. */
import type { ChildProcess } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const probe = new URL("./memory-probe.ts", import.meta.url).href;

export interface Memory {
  /** Resident memory of the process. */
  readonly residentMb: number;
  /** Memory that the process uses itself: heap objects, and buffers outside the heap. */
  readonly usedMb: number;
}

export interface MemoryProbe {
  /** Variables to set when the process starts. */
  readonly environment: Record<string, string>;
  /** The memory in use after a garbage collection. */
  read(child: ChildProcess): Promise<Memory>;
}

const deadlineMs = 60_000;

/** A probe for one process; `directory` holds its file. */
export function memoryProbe(directory: string): MemoryProbe {
  const file = join(directory, "memory.json");
  return {
    environment: {
      NODE_OPTIONS: `${process.env["NODE_OPTIONS"] ?? ""} --import=${probe}`.trim(),
      TOLLGATE_TEST_MEMORY: file,
    },
    async read(child) {
      rmSync(file, { force: true });
      child.kill("SIGUSR2");
      for (const until = Date.now() + deadlineMs; !existsSync(file); await sleep(20))
        if (Date.now() > until) throw new Error("the gateway tells nothing of its memory");
      const { rss, heapUsed, external } = JSON.parse(
        readFileSync(file, "utf8"),
      ) as NodeJS.MemoryUsage;
      return { residentMb: rss / 1e6, usedMb: (heapUsed + external) / 1e6 };
    },
  };
}
