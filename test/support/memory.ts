/** The memory of a gateway that is a process of its own. */
import type { ChildProcess } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const probe = new URL("./memory-probe.ts", import.meta.url).href;

export interface Memory {
  /** What the process holds of the machine's memory. */
  readonly residentMb: number;
  /** What it has in use itself: objects, and buffers beside them. */
  readonly usedMb: number;
}

export interface MemoryProbe {
  /** To be set where the process starts. */
  readonly environment: Record<string, string>;
  /** What is left after collecting garbage. */
  read(child: ChildProcess): Promise<Memory>;
}

const deadlineMs = 60_000;

/** A probe for one process; `directory` takes its file. */
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
