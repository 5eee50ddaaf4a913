/** One run of the embedded server, from start to end. */
import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../base/log.ts";
import { socketPort } from "./directory.ts";
import { pathForServer, startProgram, type Site } from "./programs.ts";
import { DatabaseNotStartedError, keepServerLog } from "./server-log.ts";
import { startWatch } from "./watch.ts";

/** How long a start may take without a word of progress. Recovery after a crash tells of it every ten seconds, however long it takes. */
export const silentMsDefault = 120_000;
/** The words of each step of a recovery: PostgreSQL syncs the data directory, resets unlogged tables and reads the WAL again. */
export const progress = ", elapsed time: ";
const pollMs = 10;
const stderrMsMax = 1_000;
const fastMsMax = 10_000;
const quitMsMax = 5_000;

export interface ServerOptions {
  readonly site: Site;
  /** `database` in the data directory. */
  readonly directory: string;
  /** Name of the data's directory in `directory`. */
  readonly cluster: string;
  /** Directory of the socket, as a path that the server can use. */
  readonly listen: { readonly socketDir: string };
  readonly log: Log;
  /** How long a start may take without a word of progress, in ms. */
  readonly silentMsMax?: number;
  /** Ends a start that is no longer wanted. */
  readonly signal?: AbortSignal | undefined;
}

export interface Server {
  /** Resolves when the server has ended, for whatever reason. */
  readonly ended: Promise<void>;
  /** Stops the server cleanly: closes open connections and writes all data. Kills it if that takes too long. */
  stop(): Promise<void>;
}

function listenArguments(socketDir: string): string[] {
  const settings = { listen_addresses: "", port: socketPort, unix_socket_directories: socketDir };
  return Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}

/** True if line eight of `postmaster.pid` says that the server is ready; pg_ctl reads the same line. */
export function isReady(cluster: string, pid: number): boolean {
  try {
    const lines = readFileSync(join(cluster, "postmaster.pid"), "utf8").split("\n");
    return Number(lines[0]) === pid && lines[7]?.trim() === "ready";
  } catch {
    return false;
  }
}

async function untilReady(
  { directory, cluster, silentMsMax = silentMsDefault, signal }: ServerOptions,
  child: ChildProcess,
  lastLines: () => string,
): Promise<void> {
  let saidMs = performance.now();
  const listen = (bytes: Buffer): void => {
    if (bytes.includes(progress)) saidMs = performance.now();
  };
  child.stderr!.on("data", listen);
  while (!isReady(join(directory, cluster), child.pid!)) {
    if (child.exitCode !== null || child.signalCode !== null) {
      // The server may have ended before its last messages, which name the cause, were read.
      const read = finished(child.stderr!).catch(() => undefined);
      await Promise.race([read, sleep(stderrMsMax, undefined, { ref: false })]);
      throw new DatabaseNotStartedError(directory, lastLines());
    }
    signal?.throwIfAborted();
    if (performance.now() - saidMs > silentMsMax)
      throw new Error(`the embedded database was not ready in time: ${lastLines()}`);
    await sleep(pollMs);
  }
  child.stderr!.off("data", listen);
}

/**
 * Starts the server on `directory`; resolves when it accepts connections. The server ends at most two seconds after this process.
 * @throws Error with the server's last messages if it does not start
 */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { site, directory, cluster, listen, log } = options;
  const watch = startWatch(site.identity);
  const args = ["-D", pathForServer(site, cluster), ...listenArguments(listen.socketDir)];
  const child = startProgram(site, "postgres", args, watch.pipe);
  const ended = new Promise<void>((resolve) => {
    child.once("error", (error) => {
      log.error({ err: error }, "the embedded database's program cannot be run");
      resolve();
    });
    child.once("exit", () => resolve());
  }).then(() => watch.end());
  if (child.pid === undefined) {
    await ended;
    throw new Error(`${site.binaries.directory}/postgres cannot be run`);
  }
  const lastLines = keepServerLog(child.stderr!, join(directory, "server.log"), log);

  async function endedWithin(ms: number): Promise<boolean> {
    const late = sleep(ms, false, { ref: false });
    return Promise.race([ended.then(() => true), late]);
  }
  async function quit(): Promise<void> {
    child.kill("SIGQUIT");
    if (await endedWithin(quitMsMax)) return;
    child.kill("SIGKILL");
    await ended;
  }
  try {
    await untilReady(options, child, lastLines);
  } catch (error) {
    await quit();
    throw error;
  }
  return {
    ended,
    async stop() {
      child.kill("SIGINT");
      if (!(await endedWithin(fastMsMax))) await quit();
    },
  };
}
