/** The processes of a data directory's embedded database, for tests that kill it or check that nothing is left. */
import { readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "./patience.ts";

/** The directory with the data of the PostgreSQL cluster. */
export const clusterOf = (dataDir: string): string => join(dataDir, "database/18");

/** The process id of the server's main process. */
export const serverPid = (dataDir: string): number =>
  Number(readFileSync(join(clusterOf(dataDir), "postmaster.pid"), "utf8").split("\n")[0]);

/** The same, or undefined while there is no file: a start removes the file that a killed server left, then writes its own. */
function namedServer(dataDir: string): number | undefined {
  try {
    return serverPid(dataDir);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Ends the server with SIGKILL once one runs. During a start its file may name a dead process, or be missing. */
export async function killServer(dataDir: string): Promise<void> {
  await eventually(() => {
    const pid = namedServer(dataDir);
    if (pid === undefined || !serverProcesses(dataDir).includes(pid)) return false;
    process.kill(pid, "SIGKILL");
    return true;
  }, "a server to kill");
}

/**
 * The server's processes; Linux only. All have the data as their working directory, except the first one before it becomes the
 * server. That one is found by its arguments.
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
