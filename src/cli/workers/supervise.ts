/**
 * `tollgate serve` with several workers: this process owns the port, the embedded database, the sandbox and the signals. It serves no
 * calls. docs/operate.md "Workers".
 */
import type { Log } from "../../base/log.ts";
import { migrate } from "../../storage/index.ts";
import { checkMasterKeys, openSecrets } from "../../tenancy/index.ts";
import { announceAddress } from "../address.ts";
import { banner } from "../banner.ts";
import { readConfiguration, sandboxWanted } from "../catalog.ts";
import { Closers } from "../closers.ts";
import { configFile } from "../config-file.ts";
import { openDatabaseOf } from "../database.ts";
import type { Environment } from "../environment.ts";
import { sameSignalMs, type listenForHangUps } from "../signals.ts";
import { connectionsLeft, planWorkers, type WorkersPlan } from "./count.ts";
import { Fleet, type RestartLimits } from "./fleet.ts";
import { openListening, type Listening } from "./listening.ts";
import { startWorker } from "./worker-process.ts";

interface Supervised {
  readonly environment: Environment;
  readonly wanted: number;
  readonly log: Log;
  /** Receives the handlers of SIGHUP, once the gateway is ready. */
  readonly onHangUp: ReturnType<typeof listenForHangUps>;
  /** Start of the command on the monotonic clock, in ms. */
  readonly startedMs: number;
  /** Limits on retrying a worker that does not start; the default if absent. Tests only. */
  readonly trials?: RestartLimits;
}

/** Closes everything and ends the process. */
async function endWith(closers: Closers, exitCode: number): Promise<void> {
  try {
    await closers.closeAll();
  } catch (error) {
    console.error(error);
    process.exit(1);
  }
  process.exit(exitCode);
}

/** Runs the workers until SIGINT or SIGTERM. @throws what keeps the gateway from starting */
export function supervise(options: Supervised): Promise<void> {
  const closers = new Closers();
  return closers.starting(() => start(options, closers));
}

async function start(
  { environment: given, wanted, log, startedMs, onHangUp, trials }: Supervised,
  closers: Closers,
): Promise<void> {
  // Named from now on: if the default file goes missing, no worker may start without a configuration.
  const environment = { ...given, configPath: configFile(given) };
  const sandbox = sandboxWanted(environment)
    ? await (await import("../../../sandbox/index.ts")).startSandbox({ host: "127.0.0.1", port: 0 })
    : undefined;
  if (sandbox) closers.keep(sandbox);
  await checkMasterKeys(environment);
  const readCatalog = () => readConfiguration({ environment, sandboxUrl: sandbox?.url, log });
  const { catalog, settings } = await readCatalog();
  const plan = await prepareDatabase({ environment, wanted, log }, closers);
  const listening = await openListening({ environment, settings }, plan.count);
  closers.keep(listening);
  const fleet = new Fleet({
    count: plan.count,
    start: (number, onMessage) =>
      startWorker(
        {
          number,
          count: plan.count,
          host: environment.host,
          port: listening.port,
          configPath: environment.configPath,
          url: listening.url,
          sandboxUrl: sandbox?.url,
          poolMax: plan.poolMax,
        },
        listening,
        onMessage,
      ),
    log,
    trials,
    failed: (number) => listening.release(number),
    gaveUp(error, fix) {
      const helps = fix === undefined ? "" : ` (${fix})`;
      console.error(`tollgate: no worker could be started: ${error.message}${helps}`);
      fleet.kill();
      void endWith(closers, 1);
    },
  });
  closers.add(() => fleet.kill());
  const { first, metricsUrl } = await fleet.start();
  closers.add(announceAddress(environment, listening.url));
  const workers = plan.reduced === undefined ? `${plan.count}` : `${plan.count}: ${plan.reduced}`;
  const ready = { url: listening.url, first, metricsUrl, sandboxUrl: sandbox?.url, workers };
  const seconds = (performance.now() - startedMs) / 1000;
  console.log(banner({ ...ready, catalog: () => catalog }, seconds, environment.dataDir));
  const stop = stopOnSignal({ fleet, listening, closers, drainMs: environment.drainMs });
  const reload = async (): Promise<void> => {
    await readCatalog();
    log.info({}, "the workers are replaced one after the other");
    await fleet.reload();
  };
  onHangUp({ reload, stop: () => stop("SIGHUP") });
}

/** Migrates, checks the master key and counts the connections: once, before the first worker. */
async function prepareDatabase(
  { environment, wanted, log }: Pick<Supervised, "environment" | "wanted" | "log">,
  closers: Closers,
): Promise<WorkersPlan> {
  const database = await openDatabaseOf(environment, { log, connectionsMax: 2 });
  const isServer = environment.databaseUrl !== undefined;
  if (!isServer) closers.keep(database);
  try {
    await migrate(database, log);
    await openSecrets({ ...environment, database });
    const plan = planWorkers(wanted, await connectionsLeft(database));
    if (plan.reduced !== undefined)
      log.warn({ wanted, workers: plan.count, reason: plan.reduced }, "fewer workers than wanted");
    return plan;
  } finally {
    // The embedded server runs as long as this process. A connection to another server is no longer needed.
    if (isServer) await database.close();
  }
}

interface Stopping {
  readonly fleet: Fleet;
  readonly listening: Listening;
  readonly closers: Closers;
  readonly drainMs: number;
}

/** As for a single process: Ctrl-C skips the drain, and a second signal ends everything at once. */
function stopOnSignal({ fleet, listening, closers, drainMs }: Stopping) {
  let firstMs: number | undefined;
  const stop = (signal: NodeJS.Signals): void => {
    const nowMs = performance.now();
    if (firstMs !== undefined) {
      if (nowMs - firstMs <= sameSignalMs) return;
      fleet.kill();
      process.exit(1);
    }
    firstMs = nowMs;
    // Each worker then closes its sockets itself, when no connection waits in them.
    listening.close();
    void fleet.stop(signal === "SIGTERM" ? drainMs : 0).then(() => endWith(closers, 0));
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  return stop;
}
