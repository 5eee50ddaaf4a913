/** A worker's side of the channel to its supervisor: implements its role with messages. */
import { overloaded } from "../../base/errors.ts";
import type { MetricFamily } from "../../base/metric-family.ts";
import type { Answers, Question, ToSupervisor, ToWorker, WorkerStart } from "./messages.ts";
import { Questions } from "./questions.ts";
import type { OwnState, WorkerRole } from "./role.ts";

/** If the supervisor does not answer within this time, the worker answers without it. */
const answerMsMax = 2_000;
/** Interval of unrequested reports. A killed worker loses the counts since its last report. */
const reportEveryMs = 5_000;

/** The part of `process` that is the channel. */
export interface Channel {
  send(message: ToSupervisor, sent?: () => void): void;
  receive(handler: (message: ToWorker) => void): void;
}

export interface Link extends WorkerRole {
  /** Sets the running gateway, which answers questions. */
  serve(gateway: LinkedGateway): void;
  /** Sends the counters a last time; resolves when they are on their way. */
  sendFinalReport(): Promise<void>;
}

export interface LinkedGateway extends OwnState {
  stop(options: { readonly leaveMs: number; readonly replaced: boolean }): void;
}

export function createLink(start: WorkerStart, channel: Channel): Link {
  let sweeps = false;
  let gateway: LinkedGateway | undefined;
  let stop: { readonly leaveMs: number; readonly replaced: boolean } | undefined;
  const measure = async (): Promise<MetricFamily[]> => (await gateway?.measure()) ?? [];
  const questions = new Questions<Answers[Question]>();
  const ask = async <Q extends Question>(what: Q): Promise<Answers[Q] | undefined> => {
    const answer = await questions.ask(
      (id) => channel.send({ kind: "ask", id, what }),
      answerMsMax,
    );
    return answer as Answers[Q] | undefined;
  };

  async function answer(id: number, what: Question): Promise<void> {
    if (what === "flush") await gateway?.flushLogs();
    const data =
      what === "ready" ? gateway?.isOpen() === true : what === "metrics" ? await measure() : null;
    channel.send({ kind: "answer", id, data });
  }

  channel.receive((message) => {
    if (message.kind === "sweeps") sweeps = message.on;
    else if (message.kind === "question") void answer(message.id, message.what);
    else if (message.kind === "answer") questions.answered(message.id, message.answer);
    else if (stop === undefined || (stop.replaced && !message.replaced)) {
      // A replaced worker that still has time for its calls gets a second message when all workers stop.
      stop = message;
      gateway?.stop(message);
    }
  });
  const reports = startReports(measure, channel);

  return {
    isWorker: true,
    count: start.count,
    given: start,
    sweeps: () => sweeps,
    async ready(isOpen) {
      const all = await ask("ready");
      if (all === undefined) return { isReady: isOpen };
      const { stopping, ready, of } = all;
      return { isReady: !stopping && ready >= enough(of), workers: { ready, of } };
    },
    async joinMetrics() {
      const all = await ask("metrics");
      if (all !== undefined) return all;
      // Not the counts of this worker alone: Prometheus would take them for those of a restart, and count everything twice.
      throw overloaded(
        "The supervisor does not answer, so the counts of all workers are not known.",
      );
    },
    async flushLogs() {
      await ask("flush");
    },
    serve(running) {
      gateway = running;
      if (stop !== undefined) running.stop(stop);
    },
    sendFinalReport: () => reports.last(),
  };
}

/** Sends the counters periodically; `last` sends them once more and resolves when they are on their way. */
function startReports(measure: () => Promise<MetricFamily[]>, channel: Channel) {
  const report = async (): Promise<void> =>
    new Promise((resolve) => {
      measure().then(
        (families) => channel.send({ kind: "measured", families }, resolve),
        () => resolve(),
      );
    });
  const reporting = setInterval(() => void report(), reportEveryMs);
  reporting.unref();
  return {
    last: async (): Promise<void> => {
      clearInterval(reporting);
      await report();
    },
  };
}

/** Half of the workers, so that a single dead worker does not make a load balancer remove the whole gateway. */
const enough = (count: number): number => Math.ceil(count / 2);
