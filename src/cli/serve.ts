/** `tollgate serve`: start, say how to make a first call, run until told to stop. */
import { createLog } from "../base/log.ts";
import { banner } from "./banner.ts";
import { readEnvironment, parsePort, UsageError } from "./environment.ts";
import { startGateway, type Gateway } from "./gateway.ts";

export interface ServeOptions {
  readonly port?: string;
  readonly host?: string;
  readonly config?: string;
  readonly workers?: string;
}

/** Runs the gateway until SIGINT or SIGTERM. A second signal, half a second later or more, stops it at once. */
export async function serve(options: ServeOptions): Promise<void> {
  const started = process.hrtime.bigint();
  const fromEnvironment = readEnvironment(process.env);
  checkWorkers(options.workers);
  const environment = {
    ...fromEnvironment,
    port: options.port === undefined ? fromEnvironment.port : parsePort(options.port, "--port"),
    host: options.host ?? fromEnvironment.host,
    configPath: options.config ?? fromEnvironment.configPath,
  };
  const log = createLog();
  const gateway = await startGateway({ environment, log });
  const seconds = Number(process.hrtime.bigint() - started) / 1e9;
  console.log(banner(gateway, seconds, environment.dataDir));
  stopOnSignal(gateway, environment.drainMs);
}

function checkWorkers(workers: string | undefined): void {
  if (workers === undefined || workers === "1") return;
  throw new UsageError(
    "--workers: more than one process on one database comes with a later version; start several gateways on one DATABASE_URL instead",
  );
}

/**
 * The same Ctrl-C comes twice under `npm start`: from the terminal to the whole process group, and passed on by npm. A person
 * needs longer for a second one.
 */
const sameSignalMs = 500;

/** A person who presses Ctrl-C waits for nobody to leave; a supervisor's SIGTERM gives balancers `drainMs` for it. */
function stopOnSignal(gateway: Gateway, drainMs: number): void {
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
}
