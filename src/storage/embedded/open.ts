/**
 * The embedded database: a PostgreSQL of the gateway's own in the data directory, or the one of the gateway that already
 * runs there. docs/architecture.md.
 */
import { chmodSync, existsSync, mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../../base/log.ts";
import {
  DataDirectoryInUseError,
  DataDirectoryUnusableError,
  readHolder,
  tryLock,
  type DataLock,
  type Place,
} from "../data-lock.ts";
import type { Database } from "../database.ts";
import { connect } from "../connect.ts";
import { reachSocket } from "./directory.ts";
import { databaseOf, startEngine } from "./engine.ts";
import type { CarryOver } from "./upgrade.ts";

const joinWaitMsMax = 30_000;
const joinPollMs = 50;
/** A command needs few. */
const joinedConnectionsMax = 2;

interface EmbeddedOptions {
  readonly dataDir: string;
  /** Joins the process that holds the directory in place of failing. */
  readonly join: boolean;
  readonly connectionsMax: number | undefined;
  readonly carryOver: CarryOver | undefined;
  readonly log: Log;
}

/** Whether a data directory has a database, whoever runs on it. */
export const hasEmbeddedDatabase = (dataDir: string): boolean => existsSync(databaseOf(dataDir));

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

function connectTo(
  { host, port, password }: Place,
  { log, connectionsMax }: EmbeddedOptions,
  closeRest: () => Promise<void>,
): Database {
  const socket = password === undefined ? reachSocket(host) : undefined;
  return connect({
    server: {
      host: socket?.path ?? host,
      port,
      user: "postgres",
      database: "postgres",
      password: password ?? "unused",
      ssl: false,
    },
    connectionsMax,
    log,
    async closeRest() {
      await closeRest();
      socket?.close();
    },
  });
}

async function openHere(options: EmbeddedOptions, lock: DataLock): Promise<Database> {
  const engine = await startEngine(options);
  lock.announce({ pid: process.pid, ...engine.place });
  return connectTo(engine.place, options, async () => {
    await engine.close();
    lock.release();
  });
}

/** Waits until the holder has announced its socket, or has gone. */
async function joinHolder(options: EmbeddedOptions): Promise<Database | DataLock> {
  const { dataDir } = options;
  const deadline = performance.now() + joinWaitMsMax;
  for (;;) {
    const lock = tryLock(dataDir);
    if (lock !== undefined) return lock;
    const holder = readHolder(dataDir);
    if (holder !== undefined && holder.port !== 0)
      return connectTo(
        holder,
        { ...options, connectionsMax: options.connectionsMax ?? joinedConnectionsMax },
        () => Promise.resolve(),
      );
    if (performance.now() > deadline) throw new DataDirectoryInUseError(dataDir, holder?.pid);
    await sleep(joinPollMs);
  }
}

/**
 * Opens the embedded database in `dataDir`, creating both where absent.
 * @throws DataDirectoryInUseError when another process holds it and `join` is not set, DataDirectoryUnusableError,
 * NoEmbeddedDatabaseError
 */
export async function openEmbedded(given: EmbeddedOptions): Promise<Database> {
  const options = { ...given, dataDir: resolve(given.dataDir) };
  const { dataDir } = options;
  let lock = enter(dataDir);
  if (lock === undefined) {
    if (!options.join) throw new DataDirectoryInUseError(dataDir, readHolder(dataDir)?.pid);
    const joined = await joinHolder(options);
    if ("query" in joined) return joined;
    lock = joined;
  }
  try {
    return await openHere(options, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}
