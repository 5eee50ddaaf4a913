/** A worker process as its supervisor sees it: start, questions, stop, end. */
import { fork, type ChildProcess } from "node:child_process";
import cluster from "node:cluster";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { MetricFamily } from "../../base/metric-family.ts";
import { ownEntry } from "../../base/own-files.ts";
import { WorkerFailedError } from "./failed.ts";
import { listenersOfProcess } from "./gateway-port.ts";
import type { Listening } from "./listening.ts";
import {
  workerVariable,
  type Question,
  type ToSupervisor,
  type ToWorker,
  type WorkerStart,
} from "./messages.ts";
import { Questions } from "./questions.ts";

const entry = fileURLToPath(ownEntry("src/cli/workers/worker"));
/** Descriptors that a worker inherits come after its standard ones and the channel to the supervisor. */
const firstInherited = 4;
const startMsMax = 120_000;

type Ready = Extract<ToSupervisor, { kind: "ready" }>;
type Answer = Extract<ToSupervisor, { kind: "answer" }>["data"];

export interface WorkerProcess {
  readonly number: number;
  state: "starting" | "ready" | "leaving";
  readonly startedMs: number;
  /** Rejects with a {@link WorkerFailedError} if the worker does not start. */
  readonly ready: Promise<Ready>;
  /** Resolves with how it ended, once all its messages were read. */
  readonly ended: Promise<string>;
  /** The counters of its last report. */
  measured: readonly MetricFamily[];
  send(message: ToWorker): void;
  /** Returns the worker's answer; undefined if none comes in time. */
  ask(what: Question, msMax: number): Promise<Answer | undefined>;
  kill(): void;
}

function spawnWorker(start: WorkerStart, listening: Listening): ChildProcess {
  const sockets = listening.socketsOf(start.number);
  const main = Array.from({ length: listenersOfProcess }, () => sockets?.main ?? []).flat();
  const inherited = sockets && [...main, ...sockets.metrics].map((socket) => socket.fd());
  const places = sockets && {
    main: main.map((_, at) => firstInherited + at),
    ...(sockets.metrics.length > 0 && { metrics: firstInherited + main.length }),
  };
  const variables = { [workerVariable]: JSON.stringify({ ...start, sockets: places }) };
  if (inherited === undefined) {
    cluster.setupPrimary({ exec: entry, args: [] });
    cluster.schedulingPolicy = cluster.SCHED_RR;
    return cluster.fork(variables).process;
  }
  return fork(entry, [], {
    env: { ...process.env, ...variables },
    stdio: ["inherit", "inherit", "inherit", "ipc", ...inherited],
  });
}

/** Starts a worker. `onMessage` gets its messages, except those about its start and its answers. */
export function startWorker(
  start: WorkerStart,
  listening: Listening,
  onMessage: (worker: WorkerProcess, message: ToSupervisor) => void,
): WorkerProcess {
  const child = spawnWorker(start, listening);
  const ready = Promise.withResolvers<Ready>();
  // A caller that awaits it gets the rejection, but there may be no such caller.
  ready.promise.catch(() => undefined);
  const questions = new Questions<Answer>();
  const late = setTimeout(() => worker.kill(), startMsMax).unref();
  let isOurs = false;

  const worker: WorkerProcess = {
    number: start.number,
    state: "starting",
    startedMs: performance.now(),
    ready: ready.promise,
    ended: endOf(child).then((end) => {
      const how = isOurs ? "ended by its supervisor" : end;
      clearTimeout(late);
      ready.reject(
        new WorkerFailedError(`worker ${start.number} ended (${how}) before it was ready`, 1),
      );
      questions.end();
      return how;
    }),
    measured: [],
    send(message) {
      // A worker that has just ended gets no more messages.
      if (child.connected) child.send(message, () => undefined);
    },
    ask: (what, msMax) => questions.ask((id) => worker.send({ kind: "question", id, what }), msMax),
    kill() {
      isOurs = true;
      child.kill("SIGKILL");
    },
  };
  child.on("message", (message: ToSupervisor) => {
    if (message.kind === "ready") {
      clearTimeout(late);
      worker.state = "ready";
      ready.resolve(message);
    } else if (message.kind === "failed")
      ready.reject(new WorkerFailedError(message.text, message.exitCode));
    else if (message.kind === "answer") questions.answered(message.id, message.data);
    else onMessage(worker, message);
  });
  return worker;
}

async function endOf(child: ChildProcess): Promise<string> {
  const failed = new Promise<string>((resolve) =>
    child.once("error", (error) => resolve(error.message)),
  );
  const exited = once(child, "exit").then(([code, signal]) => `${signal ?? `code ${code}`}`);
  const how = await Promise.race([failed, exited]);
  // Its last messages may still be in the channel.
  if (child.connected) await once(child, "disconnect");
  return how;
}
