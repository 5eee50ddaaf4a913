/**
 * The hold of one process on a data directory. docs/operate.md.
 * The lock is SQLite's exclusive file lock: the kernel gives it up when its process dies, however it dies, so nothing
 * stale can remain and no reused process id can be mistaken for the holder. `gateway.json` beside it only tells who holds it.
 */
import { readFileSync, rmSync, writeFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Another process holds the data directory. */
export class DataDirectoryInUseError extends Error {
  readonly pid: number | undefined;

  constructor(dataDir: string, pid: number | undefined) {
    super(
      `The data directory ${dataDir} is in use by ${pid === undefined ? "another process" : `process ${pid}`}. ` +
        "Stop that process, or set TOLLGATE_DATA_DIR to another directory; " +
        "several gateways at once need DATABASE_URL, a PostgreSQL server.",
    );
    this.name = "DataDirectoryInUseError";
    this.pid = pid;
  }
}

/** Where a database can be reached on this machine. */
export interface Place {
  /** The directory of its socket; without one, an address. */
  readonly host: string;
  readonly port: number;
  /** Where it is reached by address. */
  readonly password?: string;
}

/** Where the holder's database can be reached. */
export interface HolderInfo extends Place {
  readonly pid: number;
}

export interface DataLock {
  /** Tells others how to reach the database, once it takes connections. */
  announce(info: HolderInfo): void;
  release(): void;
}

const infoPath = (dataDir: string) => join(dataDir, "gateway.json");

/** What the present holder announced; undefined while it is still starting. May be stale when nobody holds the lock. */
export function readHolder(dataDir: string): HolderInfo | undefined {
  try {
    const info = JSON.parse(readFileSync(infoPath(dataDir), "utf8")) as Partial<HolderInfo>;
    if (typeof info.pid !== "number") return undefined;
    const { pid, host = "", port = 0, password } = info;
    return { pid, host, port, ...(password === undefined ? {} : { password }) };
  } catch {
    return undefined;
  }
}

function isBusy(error: unknown): boolean {
  // SQLITE_BUSY; the extended codes carry it in the low byte.
  const code = (error as { errcode?: unknown }).errcode;
  return typeof code === "number" && (code & 0xff) === 5;
}

/**
 * Takes the directory for this process, or returns undefined when a live process holds it.
 * The lock file must never be opened by other means in this process: closing it would drop the lock (POSIX).
 */
export function tryLock(dataDir: string): DataLock | undefined {
  const lock = new DatabaseSync(join(dataDir, "lock.sqlite"), { timeout: 0 });
  try {
    lock.exec("pragma journal_mode = memory; begin exclusive");
  } catch (error) {
    lock.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
  const write = (info: HolderInfo) => {
    const temporary = `${infoPath(dataDir)}.${process.pid}`;
    writeFileSync(temporary, JSON.stringify(info), { mode: 0o600 });
    renameSync(temporary, infoPath(dataDir));
  };
  write({ pid: process.pid, host: "", port: 0 });
  return {
    announce: write,
    release() {
      rmSync(infoPath(dataDir), { force: true });
      lock.close();
    },
  };
}
