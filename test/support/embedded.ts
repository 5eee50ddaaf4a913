/** What runs on a data directory's embedded database: for tests that kill it, or look whether anything is left. */
import { readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "./patience.ts";

/** The directory of the data itself. */
export const clusterOf = (dataDir: string): string => join(dataDir, "database/18");

/** The number of the server's main process. */
export const serverPid = (dataDir: string): number =>
  Number(readFileSync(join(clusterOf(dataDir), "postmaster.pid"), "utf8").split("\n")[0]);

/** The same, or undefined while there is no file: a start removes the one that a killed server left, and then writes its own. */
function namedServer(dataDir: string): number | undefined {
  try {
    return serverPid(dataDir);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Ends the server with SIGKILL, once one runs: its file may still name one that is dead, or be away while one starts. */
export async function killServer(dataDir: string): Promise<void> {
  await eventually(() => {
    const pid = namedServer(dataDir);
    if (pid === undefined || !serverProcesses(dataDir).includes(pid)) return false;
    process.kill(pid, "SIGKILL");
    return true;
  }, "a server to kill");
}

/**
 * The server's processes; Linux only. All of them have the data as their working directory, but for the first one before it is the
 * server: that names it.
 */
export function serverProcesses(dataDir: string): number[] {
  const named = clusterOf(dataDir);
  const cluster = realpathSync(named);
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        if (readlinkSync(`/proc/${pid}/cwd`) === cluster) return true;
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(named);
      } catch {
        return false;
      }
    })
    .map(Number);
}
