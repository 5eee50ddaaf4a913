/** A worker process: the gateway as `serve` runs it, on a socket and a database from its supervisor. */
import { createLog } from "../../base/log.ts";
import { explain } from "../explain.ts";
import { readEnvironment } from "../environment.ts";
import { startGateway } from "../gateway.ts";
import { proxyFetches } from "../proxies.ts";
import { ignoreUserSignals } from "../signals.ts";
import { createLink, type Channel } from "./link.ts";
import { workerVariable, type ToSupervisor, type ToWorker, type WorkerStart } from "./messages.ts";

/** A terminal or service manager sends signals to the whole process group. The worker ignores them; the supervisor handles them. */
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
ignoreUserSignals();
// A worker must not outlive its supervisor, however the supervisor ended.
process.on("disconnect", () => process.exit(1));

const channel: Channel = {
  send: (message: ToSupervisor, sent) =>
    void process.send?.(message, undefined, undefined, () => sent?.()),
  receive: (handler) => void process.on("message", (message: ToWorker) => handler(message)),
};

/** Time limit for calls in flight after another process has taken over. */
const replacedMsMax = 600_000;

async function run(start: WorkerStart): Promise<void> {
  const log = createLog(undefined, start.number);
  const link = createLink(start, channel);
  const { host, port, configPath } = start;
  const environment = { ...readEnvironment(process.env), host, port, configPath };
  proxyFetches(environment);
  const gateway = await startGateway({
    environment,
    log,
    accessLog: { worker: start.number },
    role: link,
  });
  const { first, metricsUrl } = gateway;
  link.serve({
    ...gateway.own,
    stop({ leaveMs, replaced }) {
      const closed = gateway.close({ leaveMs, ...(replaced && { callsMs: replacedMsMax }) });
      void closed.then(() => link.sendFinalReport()).then(() => process.exit(0), fail);
    },
  });
  channel.send({ kind: "ready", first, metricsUrl });
}

/** Reports to the supervisor why this worker ends, and ends it. */
async function fail(error: unknown): Promise<void> {
  const { text, exitCode } = await explain(error);
  const whole = error instanceof Error ? (error.stack ?? error.message) : String(error);
  channel.send({ kind: "failed", text: text ?? whole, exitCode }, () => process.exit(exitCode));
}

run(JSON.parse(process.env[workerVariable]!) as WorkerStart).catch(fail);
