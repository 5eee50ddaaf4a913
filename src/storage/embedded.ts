/**
 * The embedded database, seen from the main thread: the hold on the data directory, the worker and its restarts,
 * the maintenance PGlite has no background processes for. Design section 2, "database".
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type pg from "pg";
import { createDatabase, type Database, type Log } from "./database.ts";
import {
  DataDirectoryInUseError,
  DataDirectoryUnusableError,
  readHolder,
  tryLock,
  type DataLock,
} from "./data-lock.ts";
import type { FromWorker, WorkerInput } from "./embedded-worker.ts";
import { startMaintenance } from "./maintenance.ts";
import { createPool } from "./pool.ts";
import { createSignals, type SignalSource } from "./signals.ts";

/** The driver derives the Unix socket's file name from the port, and needs some port. */
const unixPort = 5432;
/** Of a Unix socket's path; 104 on macOS, 108 on Linux, the closing zero included. */
const socketPathBytesMax = 103;
const restartMsMin = 100;
const restartMsMax = 5_000;
const joinWaitMsMax = 10_000;

interface Place {
  readonly host: string;
  readonly port: number;
}

/** A private directory for the socket: inside the data directory, or elsewhere where that path is too long. */
function socketDir(dataDir: string): string {
  const inside = join(dataDir, "socket");
  const fits = Buffer.byteLength(join(inside, `.s.PGSQL.${unixPort}`)) <= socketPathBytesMax;
  if (!fits) return mkdtempSync(join(tmpdir(), "tollgate-"));
  // What a dead process left there would keep a new one from listening; the data directory's lock is ours by now.
  rmSync(inside, { recursive: true, force: true });
  mkdirSync(inside, { mode: 0o700 });
  return inside;
}

interface Engine extends SignalSource {
  readonly place: Place;
}

/** One life of the worker: resolves when it takes connections, with the port and what resolves when it ends. */
async function startWorker(
  input: WorkerInput,
  hear: { notification(text: string): void; failed(reason: string): void },
): Promise<{ worker: Worker; port: number; ended: Promise<void> }> {
  if (input.path !== undefined) rmSync(input.path, { force: true });
  const worker = new Worker(new URL("./embedded-worker.ts", import.meta.url), {
    workerData: input,
  });
  const ended = new Promise<void>((resolve) => {
    worker.on("exit", () => resolve());
  });
  const port = await new Promise<number>((done, fail) => {
    worker.on("message", (message: FromWorker) => {
      if (message.kind === "notification") hear.notification(message.text);
      else if (message.kind === "failed") hear.failed(message.reason);
      else done(message.port);
    });
    worker.on("error", (error) => {
      hear.failed(error instanceof Error ? error.message : String(error));
      fail(error);
    });
    worker.on("exit", (code) => fail(new Error(`the embedded database ended with code ${code}`)));
  });
  return { worker, port, ended };
}

/** Starts the worker, and starts it again whenever it dies; resolves when it takes connections. */
async function startEngine(dataDir: string, log: Log): Promise<Engine> {
  const host = process.platform === "win32" ? undefined : socketDir(dataDir);
  const path = host === undefined ? undefined : join(host, `.s.PGSQL.${unixPort}`);
  let receive: (text: string) => void = () => undefined;
  let reconnected: () => void = () => undefined;
  let up = true;
  let closing = false;
  const hear = {
    notification: (text: string) => receive(text),
    failed: (reason: string) => log.error({ reason }, "the embedded database failed"),
  };
  const databaseDir = join(dataDir, "database");
  let life = await startWorker({ databaseDir, path, port: 0 }, hear);
  const place = { host: host ?? "127.0.0.1", port: host === undefined ? life.port : unixPort };

  async function keepAlive(): Promise<void> {
    let waitMs = restartMsMin;
    for (;;) {
      if (up) await life.ended;
      up = false;
      if (closing) return;
      log.error({}, "the embedded database ended; it is started again");
      try {
        life = await startWorker({ databaseDir, path, port: place.port }, hear);
        up = true;
        waitMs = restartMsMin;
        reconnected();
      } catch (error) {
        log.error({ err: error }, "the embedded database did not start again");
        await sleep(waitMs, undefined, { ref: false });
        waitMs = Math.min(waitMs * 2, restartMsMax);
      }
    }
  }
  const kept = keepAlive();

  return {
    place,
    start(onText, onReconnected) {
      receive = onText;
      reconnected = onReconnected;
      onReconnected();
    },
    healthy: () => up,
    async close() {
      closing = true;
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      life.worker.postMessage("close");
      await kept;
      if (host !== undefined) rmSync(host, { recursive: true, force: true });
    },
  };
}

const poolConfig = (place: Place): pg.PoolConfig => ({
  ...place,
  user: "postgres",
  database: "postgres",
  password: "unused",
  ssl: false,
});

async function openHere(dataDir: string, lock: DataLock, log: Log): Promise<Database> {
  const engine = await startEngine(dataDir, log);
  lock.announce({ pid: process.pid, ...engine.place });
  const pool = createPool(poolConfig(engine.place), log);
  const stopMaintenance = startMaintenance(pool, log);
  // The engine ends after the pool: its last connections say goodbye to somebody.
  const source: SignalSource = { ...engine, close: () => Promise.resolve() };
  return createDatabase({
    kind: "embedded",
    pool,
    prepares: true,
    signals: (database) => createSignals(database, source, log),
    async closeRest() {
      await stopMaintenance();
      await engine.close();
      lock.release();
    },
  });
}

/** A connection to the database of the process that holds the directory. It publishes signals, and receives none. */
function openJoined(place: Place, log: Log): Database {
  const deaf: SignalSource = {
    start: () => undefined,
    healthy: () => false,
    close: () => Promise.resolve(),
  };
  return createDatabase({
    kind: "embedded",
    pool: createPool({ ...poolConfig(place), max: 2 }, log),
    prepares: false,
    signals: (database) => createSignals(database, deaf, log),
    closeRest: () => Promise.resolve(),
  });
}

/** Waits until the holder has announced its socket, or has gone. */
async function joinHolder(dataDir: string, log: Log): Promise<Database | DataLock> {
  const deadline = Date.now() + joinWaitMsMax;
  for (;;) {
    const lock = tryLock(dataDir);
    if (lock !== undefined) return lock;
    const holder = readHolder(dataDir);
    if (holder !== undefined && holder.port !== 0) return openJoined(holder, log);
    if (Date.now() > deadline) throw new DataDirectoryInUseError(dataDir, holder?.pid);
    await new Promise((resume) => setTimeout(resume, 50));
  }
}

/** Makes the directory and takes the hold on it; undefined when another process has it. */
function enter(dataDir: string): DataLock | undefined {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    chmodSync(dataDir, 0o700);
    return tryLock(dataDir);
  } catch (error) {
    throw new DataDirectoryUnusableError(dataDir, error);
  }
}

/**
 * Opens the embedded database in `dataDir`, creating both where absent.
 * @throws DataDirectoryInUseError when another process holds it and `join` is not set, DataDirectoryUnusableError
 */
export async function openEmbedded(options: {
  dataDir: string;
  join: boolean;
  log: Log;
}): Promise<Database> {
  const dataDir = resolve(options.dataDir);
  let lock = enter(dataDir);
  if (lock === undefined) {
    if (!options.join) throw new DataDirectoryInUseError(dataDir, readHolder(dataDir)?.pid);
    const joined = await joinHolder(dataDir, options.log);
    if ("query" in joined) return joined;
    lock = joined;
  }
  try {
    return await openHere(dataDir, lock, options.log);
  } catch (error) {
    lock.release();
    throw error;
  }
}
