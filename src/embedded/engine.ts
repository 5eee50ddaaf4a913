/** Runs the embedded server while the gateway runs: starts it, restarts it when it dies, and stops it cleanly. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../base/log.ts";
import type { ServerLocation } from "./data-lock.ts";
import { findBinaries } from "./binaries.ts";
import { olderMajor, prepareCluster } from "./cluster.ts";
import { openDirectory } from "./directory.ts";
import { majorsIn, prepareDatabaseDirectory } from "./database-directory.ts";
import { serverIdentity } from "./identity.ts";
import { clearOrphans } from "./orphans.ts";
import type { Site } from "./programs.ts";
import { startServer, type Server } from "./server.ts";
import { prepareTransport, type Transport } from "./transport.ts";
import { upgradeCluster, type CarryOver } from "./upgrade.ts";
import { startControlled } from "./windows.ts";

const restartMsMin = 100;
const restartMsMax = 5_000;
/** A server that ends sooner after its start is started again with back-off: it may have ended for a reason that lasts. */
const steadyMs = 10_000;

export interface EngineOptions {
  readonly dataDir: string;
  /** Carries the data of an older PostgreSQL over to a newer one. */
  readonly carryOver: CarryOver | undefined;
  readonly log: Log;
}

export interface Engine {
  /** Where the server accepts connections; a restart does not change it. */
  readonly place: ServerLocation;
  close(): Promise<void>;
}

/** Returns the directory of everything that belongs to the server. */
export const databaseOf = (dataDir: string): string => join(dataDir, "database");

/**
 * Starts the server of a data directory that the caller has locked; creates the database if there is none.
 * @throws NoEmbeddedDatabaseError, DataDirectoryUnusableError, or Error with what the server said
 */
export async function startEngine({ dataDir, carryOver, log }: EngineOptions): Promise<Engine> {
  const directory = databaseOf(dataDir);
  const clusters = majorsIn(directory).map((major) => join(directory, String(major)));
  const identity = serverIdentity(...clusters.toReversed(), directory);
  const binaries = findBinaries(dataDir, identity);
  prepareDatabaseDirectory(directory, identity);
  const home = openDirectory(directory);
  const site: Site = { binaries, identity, home };
  let transport: Transport | undefined;
  const release = (): void => {
    transport?.close();
    home.close();
  };
  try {
    transport = await prepareTransport(site, directory);
    const older = olderMajor(directory, binaries.major);
    if (older !== undefined) await upgradeCluster({ site, directory, older, carryOver, log });
    await prepareCluster(site, directory, transport.passwordFile);
    const cluster = String(binaries.major);
    const { listen, place } = transport;
    const start = async (signal?: AbortSignal): Promise<Server> => {
      const options = { site, directory, cluster, log, signal };
      if ("port" in listen) return startControlled(options, listen.port);
      await clearOrphans(join(directory, cluster), log);
      return startServer({ ...options, listen });
    };
    const close = keepAlive(await start(), start, log);
    return {
      place,
      async close() {
        await close();
        release();
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}

/**
 * Restarts the server whenever it ends, at once if it had run for a while, else with back-off. The returned function stops it for good, and
 * ends a start that is under way.
 */
export function keepAlive(
  first: Server,
  start: (signal: AbortSignal) => Promise<Server>,
  log: Pick<Log, "info" | "error">,
): () => Promise<void> {
  let current: Server | undefined = first;
  const closing = new AbortController();
  const { signal } = closing;

  async function run(): Promise<void> {
    let waitMs = 0;
    let sinceMs = performance.now();
    for (;;) {
      await current?.ended;
      if (signal.aborted) return;
      current = undefined;
      log.error({}, "the embedded database ended; it is started again");
      if (performance.now() - sinceMs > steadyMs) waitMs = 0;
      await sleep(waitMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      waitMs = Math.min(Math.max(waitMs * 2, restartMsMin), restartMsMax);
      try {
        current = await start(signal);
        log.info({}, "the embedded database is back");
      } catch (error) {
        if (signal.aborted) return;
        log.error({ err: error }, "the embedded database did not start again");
      }
      sinceMs = performance.now();
      if (signal.aborted) await current?.stop();
    }
  }
  const kept = run();
  return async () => {
    closing.abort();
    await current?.stop();
    await kept;
  };
}
