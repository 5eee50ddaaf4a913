/**
 * Clears what an earlier gateway may have left (on Windows: windows.ts). That is a server that still runs on this directory, or a
 * `postmaster.pid` with a process id that now belongs to another process. The caller holds the lock on the data directory, so no live
 * gateway owns a server that runs here.
 */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../base/log.ts";

const quitAfterMs = 2_000;
const killAfterMs = 5_000;
const giveUpMs = 15_000;

/** Returns the process id in `postmaster.pid`; undefined if there is none. */
function recordedPid(cluster: string): number | undefined {
  try {
    const [first = ""] = readFileSync(join(cluster, "postmaster.pid"), "utf8").split("\n");
    return Number.parseInt(first, 10) || undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the `postgres` processes whose working directory is the cluster: the server and all its children stay in it. Other processes
 * there, such as an operator's shell, are left alone.
 */
function running(cluster: string): number[] {
  if (process.platform !== "linux") return runningByName(cluster);
  const place = realpathSync(cluster);
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const name = readFileSync(`/proc/${pid}/comm`, "utf8").trim();
        return name === "postgres" && readlinkSync(`/proc/${pid}/cwd`) === place;
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** On other systems, finds only the server, by its command line: its children end with it. */
function runningByName(cluster: string): number[] {
  const pid = recordedPid(cluster);
  if (pid === undefined) return [];
  try {
    const command = execFileSync("ps", ["-o", "args=", "-p", String(pid)]).toString();
    return command.includes("postgres") && command.includes(cluster) ? [pid] : [];
  } catch {
    return [];
  }
}

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // The process has already ended.
    }
  }
}

/**
 * Stops any server that still runs on the cluster's directory, and removes the stale `postmaster.pid`.
 * @throws Error where a process does not end
 */
export async function clearOrphans(cluster: string, log: Log): Promise<void> {
  const started = performance.now();
  const elapsedMs = (): number => performance.now() - started;
  let pids = running(cluster);
  if (pids.length > 0)
    log.warn({ pids }, "a database server of an earlier gateway still runs; it is stopped");
  const main = recordedPid(cluster);
  while (pids.length > 0) {
    if (elapsedMs() > giveUpMs)
      throw new Error(`processes ${pids.join(", ")} still use ${cluster} and do not end`);
    if (elapsedMs() > killAfterMs) signal(pids, "SIGKILL");
    else if (elapsedMs() > quitAfterMs) signal(pids, "SIGQUIT");
    else
      signal(
        pids.filter((pid) => pid === main),
        "SIGINT",
      );
    await sleep(50);
    pids = running(cluster);
  }
  rmSync(join(cluster, "postmaster.pid"), { force: true });
}
