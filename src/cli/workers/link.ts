/** A worker's side of the channel to its supervisor: its role among the others, made of messages. */
import type { MetricFamily } from "../../base/metric-family.ts";
import type { Answers, Question, ToSupervisor, ToWorker, WorkerStart } from "./messages.ts";
import { Questions } from "./questions.ts";
import type { OwnState, WorkerRole } from "./role.ts";

/** A supervisor that does not answer by then is itself in trouble: the worker speaks for itself. */
const answerMsMax = 2_000;
/** How often what was counted is sent unasked: what came after that is lost with a worker that is killed. */
const reportEveryMs = 5_000;

/** The part of `process` that is the channel. */
export interface Channel {
  send(message: ToSupervisor, sent?: () => void): void;
  receive(handler: (message: ToWorker) => void): void;
}

export interface Link extends WorkerRole {
  /** What the running gateway answers with. */
  serve(gateway: LinkedGateway): void;
  /** Sends everything once more; resolves when it is on its way. */
  lastWords(): Promise<void>;
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
      // One that was replaced and has time for its calls is told again when all stop.
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
    async joinMetrics(own) {
      return (await ask("metrics")) ?? own();
    },
    async flushLogs() {
      await ask("flush");
    },
    serve(running) {
      gateway = running;
      if (stop !== undefined) running.stop(stop);
    },
    lastWords: () => reports.last(),
  };
}

/** Sends what was measured, now and then; `last` sends it once more and resolves when it is on its way. */
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

/** Half of the workers: one that died must not have a balancer take all of them out. */
const enough = (count: number): number => Math.ceil(count / 2);
