/**
 * Runs the embedded server on Windows with PostgreSQL's own `pg_ctl`. It drops administrator rights, with which the server refuses to
 * run, and stops a server without signals. The server is then not our child process. The gateway watches its process id, and the next
 * start stops a server whose gateway was killed.
 */
import { closeSync, openSync, readFileSync, readSync, renameSync, rmSync, statSync } from "node:fs";
import { once } from "node:events";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import type { Log } from "../base/log.ts";
import { isAlive } from "../base/process-alive.ts";
import { startProgram, type Site } from "./programs.ts";
import { isReady, progress, silentMsDefault, type Server, type ServerOptions } from "./server.ts";

/** How long `pg_ctl` waits for the server: long enough for a usual start, and for one that fails. */
const readySecondsMax = 15;
const fastSecondsMax = 10;
const quitSecondsMax = 5;
const lookMs = 200;
/** How long to wait for an earlier server that is just starting or ending. */
const uncertainMsMax = 15_000;
const logBytesMax = 1_000_000;
const logTailBytesMax = 2_000;

/** Runs `pg_ctl` on a cluster, and waits for `exit`, not `close`: the started server keeps the pipe open. @throws Error where it fails */
async function control(site: Site, cluster: string, args: readonly string[]): Promise<void> {
  const child = startProgram(site, "pg_ctl", [...args, "-D", cluster]);
  const [code] = (await once(child, "exit")) as [number | null];
  child.stderr?.destroy();
  if (code !== 0) throw new Error(`pg_ctl ${args[0]} ended with ${code}`);
}

/** Stops the server of a cluster, cleanly if possible. */
async function stopServer(site: Site, cluster: string, pid: number): Promise<void> {
  for (const [mode, seconds] of [
    ["fast", fastSecondsMax],
    ["immediate", quitSecondsMax],
  ] as const) {
    try {
      return await control(site, cluster, ["stop", "-m", mode, "-w", "-t", String(seconds)]);
    } catch {
      if (!isAlive(pid)) return;
    }
  }
  process.kill(pid, "SIGKILL");
}

/** Returns the process id and port in `postmaster.pid`; undefined if there is none. */
function readPidFile(cluster: string): { readonly pid: number; readonly port: number } | undefined {
  try {
    const lines = readFileSync(join(cluster, "postmaster.pid"), "utf8").split("\n");
    return { pid: Number(lines[0]), port: Number(lines[3]) };
  } catch {
    return undefined;
  }
}

/** Returns the password of the cluster's server; undefined if its file cannot be read. */
function passwordOf(cluster: string): string | undefined {
  try {
    return readFileSync(join(cluster, "../password"), "utf8");
  } catch {
    return undefined;
  }
}

/** True if the server at a loopback port accepts our password and has this cluster open; undefined while it starts or ends. */
async function hasOpen(cluster: string, port: number): Promise<boolean | undefined> {
  const password = passwordOf(cluster);
  // Without a password no server can be asked. PostgreSQL itself does not open a cluster that another server has open.
  if (password === undefined) return false;
  const where = { host: "127.0.0.1", port, user: "postgres", database: "postgres", password };
  const client = new Client({ ...where, ssl: false, connectionTimeoutMillis: 2_000 });
  client.on("error", () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ data_directory: string }>("show data_directory");
    return resolve(rows[0]!.data_directory) === resolve(cluster);
  } catch (error) {
    const startsOrEnds = (error as { code?: unknown }).code === "57P03";
    return startsOrEnds ? undefined : false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/**
 * Stops a server that an earlier gateway left on the cluster, and removes the stale `postmaster.pid`. Its process id may belong to
 * another server by now, so only a server that has this cluster open is stopped.
 */
async function clearOrphan(site: Site, cluster: string, log: Log): Promise<void> {
  const found = readPidFile(cluster);
  if (found === undefined) return;
  const deadline = performance.now() + uncertainMsMax;
  let isOurs = await hasOpen(cluster, found.port);
  while (isOurs === undefined && performance.now() < deadline) {
    await sleep(lookMs);
    isOurs = await hasOpen(cluster, found.port);
  }
  if (isOurs === true) {
    log.warn(
      { pids: [found.pid] },
      "a database server of an earlier gateway still runs; it is stopped",
    );
    await stopServer(site, cluster, found.pid);
  }
  rmSync(join(cluster, "postmaster.pid"), { force: true });
}

/** Returns the last `most` bytes of a file, but nothing before `start`. */
function tailOf(file: string, start: number, most: number): string {
  const bytes = Buffer.alloc(most);
  const handle = openSync(file, "r");
  try {
    const from = Math.max(start, statSync(file).size - most);
    return bytes.toString("utf8", 0, readSync(handle, bytes, 0, most, from)).trim();
  } finally {
    closeSync(handle);
  }
}

/** Rotates the server's log file if it is too large. @returns its size in bytes now */
function rotateLog(file: string): number {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= logBytesMax) return size;
  renameSync(file, `${file}.1`);
  return 0;
}

/**
 * Stops a server that an earlier gateway left, then starts the server on a loopback port; resolves when it accepts connections.
 * @throws Error with the server's last messages if it does not start
 */
export async function startControlled(
  options: Omit<ServerOptions, "listen">,
  port: number,
): Promise<Server> {
  const { site, directory, cluster: name, log } = options;
  const cluster = join(directory, name);
  await clearOrphan(site, cluster, log);
  const file = join(directory, "server.log");
  const before = rotateLog(file);
  const settings = `-c listen_addresses=127.0.0.1 -c port=${port}`;
  const wait = ["-w", "-t", String(readySecondsMax)];
  try {
    await control(site, cluster, ["start", "-o", settings, "-l", file, ...wait]);
  } catch (error) {
    if (!(await recovers(options, file))) {
      const message = `the embedded database did not start: ${tailOf(file, before, logTailBytesMax)}`;
      throw new Error(message, { cause: error });
    }
  }
  const { pid } = readPidFile(cluster)!;
  const stopped = new AbortController();
  return {
    ended: untilEnded(pid, stopped.signal),
    async stop() {
      await stopServer(site, cluster, pid);
      stopped.abort();
    },
  };
}

/** Waits for a server that is not ready yet, while it tells of its recovery. False if it has ended; it is stopped if it is silent. */
async function recovers(options: Omit<ServerOptions, "listen">, file: string): Promise<boolean> {
  const { site, directory, cluster: name, silentMsMax = silentMsDefault, signal } = options;
  const cluster = join(directory, name);
  let read = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  let saidMs = performance.now();
  for (;;) {
    const pid = readPidFile(cluster)?.pid;
    if (pid === undefined || !isAlive(pid)) return false;
    if (isReady(cluster, pid)) return true;
    const size = statSync(file).size;
    // All of it: many lines are about connections that it refused meanwhile.
    if (size > read && tailOf(file, read, size - read).includes(progress))
      saidMs = performance.now();
    read = size;
    if (signal?.aborted === true || performance.now() - saidMs > silentMsMax) {
      await stopServer(site, cluster, pid);
      return false;
    }
    await sleep(lookMs);
  }
}

/** Polls until the server has ended. Polling alone does not keep this process alive, so `stop` ends it through `stopped`. */
async function untilEnded(pid: number, stopped: AbortSignal): Promise<void> {
  while (!stopped.aborted && isAlive(pid))
    await sleep(lookMs, undefined, { ref: false, signal: stopped }).catch(() => undefined);
}
