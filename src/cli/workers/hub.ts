/**
 * What all workers know together: how many take calls, and what they counted. Whichever worker is asked asks here, and all
 * answer within a bound of time. What a worker counted stays in the sums when it is gone, so that they never go backwards.
 */
import { getOrMake } from "../../base/made-once.ts";
import { growingFamilies, joinFamilies, type MetricFamily } from "../../base/metric-family.ts";
import type { Answers, Question, ToSupervisor, WorkersReady } from "./messages.ts";
import type { WorkerProcess } from "./worker-process.ts";

/** A worker that does not answer by then is busy with one thing: what it sent last counts, and it does not take calls. */
const answerMsMax = 500;

export class Hub {
  readonly #workers = new Set<WorkerProcess>();
  readonly #count: number;
  /** What workers that are gone had counted. */
  #gone: MetricFamily[] = [];
  #restarts = 0;
  #stopping = false;
  /** Who asks while an answer is on its way gets the same. */
  readonly #underWay = new Map<Question, Promise<Answers[Question]>>();

  constructor(count: number) {
    this.#count = count;
  }

  /** A worker that has become ready; `restarted`: in the place of one that had died. */
  enter(worker: WorkerProcess, restarted: boolean): void {
    this.#workers.add(worker);
    if (restarted) this.#restarts += 1;
  }

  /** A worker that has ended. */
  leave(worker: WorkerProcess): void {
    if (!this.#workers.delete(worker)) return;
    this.#gone = joinFamilies([this.#gone, growingFamilies(worker.measured)]);
  }

  /** From now on the gateway is not ready. */
  stop(): void {
    this.#stopping = true;
  }

  /** Passes on or answers what a worker says. */
  received(worker: WorkerProcess, message: ToSupervisor): void {
    if (message.kind === "measured") worker.measured = message.families;
    else if (message.kind === "ask") {
      const { id, what } = message;
      void this.#answer(what, worker).then((answer) => worker.send({ kind: "answer", id, answer }));
    }
  }

  #answer(what: Question, from: WorkerProcess): Promise<Answers[Question]> {
    if (what === "flush") return this.#flush(from);
    return getOrMake(this.#underWay, what, () =>
      (what === "ready" ? this.#ready() : this.#metrics()).finally(() =>
        this.#underWay.delete(what),
      ),
    );
  }

  async #ready(): Promise<WorkersReady> {
    const asked = [...this.#workers].filter(({ state }) => state === "ready");
    const answers = await Promise.all(asked.map((worker) => worker.ask("ready", answerMsMax)));
    const ready = answers.filter((answer) => answer === true).length;
    return { stopping: this.#stopping, ready, of: this.#count };
  }

  async #metrics(): Promise<MetricFamily[]> {
    // Whoever leaves while the others are asked is among them already.
    const gone = this.#gone;
    const current = await Promise.all(
      [...this.#workers].map(async (worker) => {
        const answer = await worker.ask("metrics", answerMsMax);
        if (!Array.isArray(answer)) return worker.measured;
        return (worker.measured = answer);
      }),
    );
    // The living come first: help and type are theirs.
    return joinFamilies([...current, gone, this.#own()]);
  }

  #own(): MetricFamily[] {
    const running = [...this.#workers].filter(({ state }) => state === "ready").length;
    const workers = {
      name: "tollgate_workers",
      help: "Worker processes that take calls.",
      type: "gauge",
    };
    const restarts = {
      name: "tollgate_worker_restarts_total",
      help: "Worker processes that were started in the place of one that had died.",
      type: "counter",
    };
    return [
      { ...workers, joined: "sum", lines: [[workers.name, running]] },
      { ...restarts, joined: "sum", lines: [[restarts.name, this.#restarts]] },
    ];
  }

  async #flush(from: WorkerProcess): Promise<null> {
    const others = [...this.#workers].filter((worker) => worker !== from);
    await Promise.all(others.map((worker) => worker.ask("flush", answerMsMax)));
    return null;
  }
}
