/** `tollgate serve`: starts the gateway, prints how to make a first call, and runs until it is stopped. */
import { createLog } from "../base/log.ts";
import { banner } from "./banner.ts";
import { unreadFiles } from "./config-file.ts";
import { readEnvironment, parsePort, parseWorkers, type Environment } from "./environment.ts";
import type { Gateway } from "./gateway.ts";
import { refuseOneAddress } from "./metrics-address.ts";
import { misspeltVariables } from "./misspelt-variables.ts";
import { ignoreUserSignals, listenForHangUps, sameSignalMs } from "./signals.ts";
import { workersWanted } from "./workers/count.ts";

export interface ServeOptions {
  readonly port?: string;
  readonly host?: string;
  readonly config?: string;
  readonly workers?: string;
}

/** Runs the gateway until SIGINT or SIGTERM. A second signal at least half a second later stops it at once. */
export async function serve(options: ServeOptions): Promise<void> {
  const startedMs = performance.now();
  ignoreUserSignals();
  const environment = environmentWith(options);
  const log = createLog();
  for (const line of [...misspeltVariables(process.env), ...unreadFiles(environment)])
    log.warn({}, line);
  const onHangUp = listenForHangUps(log);
  const wanted = workersWanted(environment);
  if (wanted > 1) {
    const { supervise } = await import("./workers/supervise.ts");
    return supervise({ environment, wanted, log, startedMs, onHangUp });
  }
  const [{ startGateway }, { proxyFetches }] = await Promise.all([
    import("./gateway.ts"),
    import("./proxies.ts"),
  ]);
  proxyFetches(environment);
  const gateway = await startGateway({ environment, log, accessLog: {} });
  const seconds = (performance.now() - startedMs) / 1000;
  console.log(banner(gateway, seconds, environment.dataDir));
  const stop = stopOnSignal(gateway, environment.drainMs);
  const reload = async (): Promise<void> => gateway.reload(environmentWith(options));
  onHangUp({ reload, stop: () => stop("SIGHUP") });
}

/** Reads the current environment, including its files of secrets; options win. @throws UsageError */
function environmentWith({ port, host, config, workers }: ServeOptions): Environment {
  const read = readEnvironment(process.env);
  const environment = {
    ...read,
    port: port === undefined ? read.port : parsePort(port, "--port"),
    host: host ?? read.host,
    configPath: config ?? read.configPath,
    workers: workers === undefined ? read.workers : parseWorkers(workers, "--workers"),
  };
  refuseOneAddress(environment);
  return environment;
}

/** Ctrl-C stops without a drain. SIGTERM of a supervisor gives load balancers `drainMs` to remove the gateway. */
function stopOnSignal(gateway: Gateway, drainMs: number) {
  let firstMs: number | undefined;
  const stop = (signal: NodeJS.Signals): void => {
    const nowMs = performance.now();
    if (firstMs !== undefined) {
      if (nowMs - firstMs > sameSignalMs) process.exit(1);
      return;
    }
    firstMs = nowMs;
    gateway.close({ leaveMs: signal === "SIGTERM" ? drainMs : 0 }).then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  return stop;
}
