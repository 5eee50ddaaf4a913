/**
 * The lock of one process on a data directory. docs/data.md.
 * It is SQLite's exclusive file lock. The kernel releases it when its process dies, in whatever way. So no lock can be stale, and a
 * reused process id is never mistaken for the holder. `gateway.json` beside it only says who holds it.
 */
import { readFileSync, rmSync, writeFileSync, renameSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pidNamespace } from "../base/process-alive.ts";

/** Another process holds the data directory. */
export class DataDirectoryInUseError extends Error {
  readonly pid: number | undefined;

  constructor(dataDir: string, holder: Pick<HolderInfo, "pid" | "elsewhere"> | undefined) {
    const pid = holder?.pid;
    const elsewhere =
      holder?.elsewhere === undefined
        ? ""
        : ` of another container or machine (host name ${holder.elsewhere})`;
    super(
      `The data directory ${dataDir} is in use by ${pid === undefined ? "another process" : `process ${pid}${elsewhere}`}. ` +
        "Stop that process, or set TOLLGATE_DATA_DIR to another directory; " +
        "several gateways at once need DATABASE_URL, a PostgreSQL server.",
    );
    this.name = "DataDirectoryInUseError";
    this.pid = pid;
  }
}

/** Where to reach a database on this machine. */
export interface ServerLocation {
  /** The directory of its socket, or an IP address if it has none. */
  readonly host: string;
  readonly port: number;
  /** Set if `host` is an IP address. */
  readonly password?: string;
}

/** Where to reach the lock holder's database. */
export interface HolderInfo extends ServerLocation {
  readonly pid: number;
  /** The host name of another container or machine, where `pid` counts. */
  readonly elsewhere?: string;
}

/** Where the process ids of this process count. */
const here = { machine: hostname(), namespace: pidNamespace };

export interface DataLock {
  /** Tells other processes how to reach the database, once it accepts connections. */
  announce(info: HolderInfo): void;
  release(): void;
}

const infoPath = (dataDir: string) => join(dataDir, "gateway.json");

/**
 * Returns the record of the current holder, with port 0 while its database is still starting; undefined if there is no readable record.
 * It may be stale if no process holds the lock.
 */
export function readHolder(dataDir: string): HolderInfo | undefined {
  try {
    const info = JSON.parse(readFileSync(infoPath(dataDir), "utf8")) as Partial<
      HolderInfo & typeof here
    >;
    if (typeof info.pid !== "number") return undefined;
    const { pid, host = "", port = 0, password } = info;
    const { machine, namespace } = info;
    const isHere =
      machine === undefined || (machine === here.machine && namespace === here.namespace);
    const elsewhere = isHere ? {} : { elsewhere: machine };
    return { pid, host, port, ...elsewhere, ...(password === undefined ? {} : { password }) };
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
 * Locks the directory for this process; returns undefined if a live process holds it.
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
    writeFileSync(temporary, JSON.stringify({ ...info, ...here }), { mode: 0o600 });
    renameSync(temporary, infoPath(dataDir));
  };
  try {
    write({ pid: process.pid, host: "", port: 0 });
  } catch (error) {
    // The disk may be full. Each start would leave a file of its own.
    rmSync(`${infoPath(dataDir)}.${process.pid}`, { force: true });
    lock.close();
    throw error;
  }
  return {
    announce: write,
    release() {
      rmSync(infoPath(dataDir), { force: true });
      lock.close();
    },
  };
}
