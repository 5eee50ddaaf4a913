/**
 * The embedded database: the gateway's own PostgreSQL in the data directory, or that of the gateway that already runs there.
 * docs/architecture.md.
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DataDirectoryUnusableError, diskFix, makeDirectory } from "../base/data-directory.ts";
import type { Log } from "../base/log.ts";
import { openAddress, type Address } from "./address.ts";
import { DataDirectoryInUseError, readHolder, tryLock, type DataLock } from "./data-lock.ts";
import { closeToOthers } from "./database-directory.ts";
import { databaseOf, startEngine } from "./engine.ts";
import type { CarryOver } from "./upgrade.ts";

const joinWaitMsMax = 30_000;
const joinPollMs = 50;

interface EmbeddedOptions {
  readonly dataDir: string;
  /** Joins the process that holds the directory, instead of failing. */
  readonly join: boolean;
  readonly carryOver: CarryOver | undefined;
  readonly log: Log;
}

/** An embedded server that accepts connections. */
interface Embedded {
  readonly address: Address;
  /** True if another process runs the server. */
  readonly joined: boolean;
  /** Stops the server and releases the data directory, if this process runs them. */
  close(): Promise<void>;
}

/** True if a data directory has a database, whichever process runs it. */
export const hasEmbeddedDatabase = (dataDir: string): boolean => existsSync(databaseOf(dataDir));

/** Creates the directory and locks it; returns undefined if another process holds the lock. */
function lockDirectory(dataDir: string): DataLock | undefined {
  try {
    makeDirectory(dataDir, 0o700);
    closeToOthers(dataDir);
    return tryLock(dataDir);
  } catch (error) {
    throw new DataDirectoryUnusableError(dataDir, error);
  }
}

async function openHere(options: EmbeddedOptions, lock: DataLock): Promise<Embedded> {
  const engine = await startEngine(options);
  try {
    lock.announce({ pid: process.pid, ...engine.place });
  } catch (error) {
    // The caller releases the lock. A server left running would also keep this process alive.
    await engine.close();
    throw error;
  }
  const reached = openAddress(engine.place);
  return {
    address: reached.address,
    joined: false,
    async close() {
      await engine.close();
      lock.release();
      reached.close();
    },
  };
}

/** Waits until the holder has announced its address, or has released the lock. */
async function joinHolder(dataDir: string): Promise<Embedded | DataLock> {
  const deadline = performance.now() + joinWaitMsMax;
  for (;;) {
    const lock = tryLock(dataDir);
    if (lock !== undefined) return lock;
    const holder = readHolder(dataDir);
    if (holder !== undefined && holder.port !== 0) {
      const reached = openAddress(holder);
      return {
        address: reached.address,
        joined: true,
        close: () => Promise.resolve(reached.close()),
      };
    }
    if (performance.now() > deadline) throw new DataDirectoryInUseError(dataDir, holder);
    await sleep(joinPollMs);
  }
}

/** True for an error of the system that tells of a disk that takes no data, or of too many open files. */
const isOfDisk = (error: unknown): boolean =>
  error instanceof Error && "syscall" in error && diskFix(error.message) !== undefined;

/**
 * Starts the server of `dataDir`, creating both if absent, or joins the one that runs there.
 * @throws DataDirectoryInUseError when another process holds it and `join` is not set, DataDirectoryUnusableError,
 *   NoEmbeddedDatabaseError
 */
export async function openEmbedded(given: EmbeddedOptions): Promise<Embedded> {
  const options = { ...given, dataDir: resolve(given.dataDir) };
  const { dataDir } = options;
  let lock = lockDirectory(dataDir);
  if (lock === undefined) {
    if (!options.join) throw new DataDirectoryInUseError(dataDir, readHolder(dataDir));
    const joined = await joinHolder(dataDir);
    if ("address" in joined) return joined;
    lock = joined;
  }
  try {
    return await openHere(options, lock);
  } catch (error) {
    lock.release();
    throw isOfDisk(error) ? new DataDirectoryUnusableError(dataDir, error) : error;
  }
}
