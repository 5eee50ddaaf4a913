/**
 * The joint state of all workers: how many take calls, and their counters. A question to any worker is passed on to this hub, and all
 * workers answer within a time limit. The counters of ended workers stay in the sums, so that sums never decrease.
 */
import { getOrCreate } from "../../base/memoize.ts";
import { growingFamilies, joinFamilies, type MetricFamily } from "../../base/metric-family.ts";
import type { Answers, Question, ToSupervisor, WorkersReady } from "./messages.ts";
import type { WorkerProcess } from "./worker-process.ts";

/** A worker that does not answer within this time is busy. Its last report counts, and it counts as not taking calls. */
const answerMsMax = 500;

export class Hub {
  readonly #workers = new Set<WorkerProcess>();
  readonly #count: number;
  /** The counters of workers that have ended. */
  #gone: MetricFamily[] = [];
  #restarts = 0;
  #stopping = false;
  /** Questions while an answer is in flight share that answer. */
  readonly #underWay = new Map<Question, Promise<Answers[Question]>>();

  constructor(count: number) {
    this.#count = count;
  }

  /** Adds a worker that is ready; `restarted`: it replaces one that died. */
  enter(worker: WorkerProcess, restarted: boolean): void {
    this.#workers.add(worker);
    if (restarted) this.#restarts += 1;
  }

  /** Removes a worker that has ended. */
  leave(worker: WorkerProcess): void {
    if (!this.#workers.delete(worker)) return;
    this.#gone = joinFamilies([this.#gone, growingFamilies(worker.measured)]);
  }

  /** From now on the gateway reports that it is not ready. */
  stop(): void {
    this.#stopping = true;
  }

  /** Stores or answers a worker's message. */
  received(worker: WorkerProcess, message: ToSupervisor): void {
    if (message.kind === "measured") worker.measured = message.families;
    else if (message.kind === "ask") {
      const { id, what } = message;
      void this.#answer(what, worker).then((answer) => worker.send({ kind: "answer", id, answer }));
    }
  }

  #answer(what: Question, from: WorkerProcess): Promise<Answers[Question]> {
    if (what === "flush") return this.#flush(from);
    return getOrCreate(this.#underWay, what, () =>
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
    // Read first: a worker that ends during the questions is counted there, and among the current ones too if read later.
    const gone = this.#gone;
    const current = await Promise.all(
      [...this.#workers].map(async (worker) => {
        const answer = await worker.ask("metrics", answerMsMax);
        if (!Array.isArray(answer)) return worker.measured;
        return (worker.measured = answer);
      }),
    );
    // Current workers come first: help and type are taken from them.
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
