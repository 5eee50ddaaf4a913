/**
 * Keeps the workers running: starts them, starts one again that died, replaces them one after the other, stops them all.
 */
import { adviceOnEnd } from "./ended.ts";
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../../base/log.ts";
import type { FirstStart } from "../first-start.ts";
import { watchAnswers, type Patience } from "./answering.ts";
import { Hub } from "./hub.ts";
import type { ToSupervisor } from "./messages.ts";
import type { WorkerProcess } from "./worker-process.ts";

/** A worker that lived so long and died is started again at once. */
const stableMs = 10_000;
const pauseMsMax = 5_000;

/** How long a worker that does not start is tried. */
export interface Trials {
  /** Before the second attempt; twice as long before each further one. */
  readonly pauseMs: number;
  /** Failures in a row, of every worker, after which the gateway gives up. */
  readonly failuresMax: number;
}

const usualTrials: Trials = { pauseMs: 200, failuresMax: 6 };
/** What a worker may take beyond the time in which balancers leave: calls, tasks and callbacks under way, in bounds of their own. */
const endMsMax = 45_000;
/** Calls under way of a worker that was replaced may take so long. */
const replacedMsMax = 600_000;

/** Calls meet two configurations then. */
const halfReplaced =
  "a new worker did not start: those replaced before it have the configuration of now, the others that of before; reload again";

export interface FleetOptions {
  readonly count: number;
  readonly start: (
    number: number,
    onMessage: (worker: WorkerProcess, message: ToSupervisor) => void,
  ) => WorkerProcess;
  readonly log: Log;
  /** The usual ones if absent. */
  readonly trials?: Trials | undefined;
  /** The usual one if absent. */
  readonly patience?: Patience | undefined;
  /** A worker could not be started again: what waits for it should not wait on. */
  readonly failed: (number: number) => void;
  /** No worker runs, and none could be started; `fix` is what helps, where that is known. */
  readonly gaveUp: (error: Error, fix: string | undefined) => void;
}

interface Place {
  readonly number: number;
  current: WorkerProcess;
  failures: number;
  /** Settles when a replacement that is under way has its place, or has failed. */
  replacement?: Promise<boolean>;
}

/** What the start of all came to. */
export interface Started {
  readonly first: FirstStart | undefined;
  readonly metricsUrl: string | undefined;
}

export class Fleet {
  readonly #options: FleetOptions;
  readonly #trials: Trials;
  readonly #hub: Hub;
  readonly #places: Place[] = [];
  readonly #alive = new Set<WorkerProcess>();
  readonly #stopping = new AbortController();

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#trials = options.trials ?? usualTrials;
    this.#hub = new Hub(options.count);
  }

  /** Starts all. @throws WorkerFailedError of the first where none comes up */
  async start(): Promise<Started> {
    for (let number = 1; number <= this.#options.count; number += 1)
      this.#places.push({ number, current: this.#start(number), failures: 0 });
    const starts = await Promise.allSettled(this.#places.map(({ current }) => current.ready));
    const ready = starts.flatMap((start) => (start.status === "fulfilled" ? [start.value] : []));
    if (ready.length === 0) throw (starts[0] as PromiseRejectedResult).reason;
    for (const place of this.#places) void this.#keep(place);
    return {
      first: ready.find(({ first }) => first !== undefined)?.first,
      metricsUrl: ready[0]!.metricsUrl,
    };
  }

  #start(number: number, restarted = false): WorkerProcess {
    const worker = this.#options.start(number, (from, message) =>
      this.#hub.received(from, message),
    );
    this.#alive.add(worker);
    worker.ready.then(
      () => {
        this.#hub.enter(worker, restarted);
        this.#elect();
        void watchAnswers(worker, this.#options.log, this.#options.patience);
      },
      () => undefined,
    );
    void worker.ended.then(() => {
      this.#alive.delete(worker);
      this.#hub.leave(worker);
      this.#elect();
    });
    return worker;
  }

  /** The first that takes calls looks for the work that nobody announced; the others do not. */
  #elect(): void {
    const ready = [...this.#alive].filter(({ state }) => state === "ready");
    const elected = ready.reduce<WorkerProcess | undefined>(
      (best, worker) => (best === undefined || worker.number < best.number ? worker : best),
      undefined,
    );
    for (const worker of this.#alive) worker.send({ kind: "sweeps", on: worker === elected });
  }

  /** Starts a place's worker again whenever it dies. */
  async #keep(place: Place): Promise<void> {
    for (;;) {
      const worker = place.current;
      const how = await worker.ended;
      await place.replacement;
      if (this.#stopping.signal.aborted) return;
      // It was replaced: another has its place.
      if (place.current !== worker) continue;
      const livedMs = performance.now() - worker.startedMs;
      if (worker.state === "ready" && livedMs > stableMs) place.failures = 0;
      const end = { worker: place.number, how, ...adviceOnEnd(how) };
      this.#options.log.error(end, "a worker ended; it is started again");
      await this.#again(place);
      if (this.#stopping.signal.aborted) return;
    }
  }

  /** One more start of a place's worker, after a pause that grows with each failure. */
  async #again(place: Place): Promise<void> {
    const { log, failed, gaveUp } = this.#options;
    const pauseMs = Math.min(this.#trials.pauseMs * 2 ** (place.failures - 1), pauseMsMax);
    if (place.failures > 0)
      await sleep(pauseMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
    if (this.#stopping.signal.aborted) return;
    place.failures += 1;
    try {
      place.current = this.#start(place.number, true);
      await place.current.ready;
      log.info({ worker: place.number }, "the worker is back");
    } catch (error) {
      place.current.kill();
      const how = await place.current.ended;
      if (this.#stopping.signal.aborted) return;
      failed(place.number);
      const reason = (error as Error).message;
      const advice = adviceOnEnd(how);
      log.error({ worker: place.number, reason, ...advice }, "a worker did not start");
      if (this.#isHopeless()) gaveUp(error as Error, advice.fix);
    }
  }

  #isHopeless(): boolean {
    const runs = [...this.#alive].some(({ state }) => state === "ready");
    return !runs && this.#places.every(({ failures }) => failures >= this.#trials.failuresMax);
  }

  /** Replaces all workers, one after the other: the old one leaves when the new one takes calls. */
  async reload(): Promise<void> {
    let replaced = 0;
    for (const place of this.#places) {
      // Nobody would stop a worker that is started now, and it would be killed with the calls it took.
      if (this.#stopping.signal.aborted) return;
      const old = place.current;
      // One that is being started again reads the configuration of now by itself.
      if (old.state !== "ready" || !this.#alive.has(old)) continue;
      place.replacement = this.#replace(place, replaced);
      if (!(await place.replacement)) return;
      replaced += 1;
      old.send({ kind: "stop", leaveMs: 0, replaced: true });
      await within(old.ended, replacedMsMax + endMsMax, () => old.kill());
    }
    if (this.#stopping.signal.aborted) return;
    this.#options.log.info({ workers: this.#places.length }, "all workers were replaced");
  }

  /** Puts a new worker into a place; false, and the old one stays, where none comes up. `replaced`: how many were before. */
  async #replace(place: Place, replaced: number): Promise<boolean> {
    const { current: old, number } = place;
    let next: WorkerProcess | undefined;
    try {
      // Where memory or descriptors are short, no process is made at all.
      next = this.#start(number);
      await next.ready;
    } catch (error) {
      const reason = (error as Error).message;
      if (!this.#stopping.signal.aborted)
        this.#options.log.error(
          { worker: number, reason, replaced, of: this.#places.length },
          replaced === 0 ? "a new worker did not start; the old ones stay" : halfReplaced,
        );
      next?.kill();
      return false;
    }
    place.current = next;
    place.failures = 0;
    old.state = "leaving";
    this.#elect();
    return !this.#stopping.signal.aborted;
  }

  /** Stops all, each in order; what is left after `leaveMs` and a bound is killed. */
  async stop(leaveMs: number): Promise<void> {
    this.#stopping.abort();
    this.#hub.stop();
    for (const worker of this.#alive) {
      if (worker.state === "starting") worker.kill();
      worker.send({ kind: "stop", leaveMs, replaced: false });
    }
    const all = Promise.all([...this.#alive].map(({ ended }) => ended));
    await within(all, leaveMs + endMsMax, () => this.kill());
    await all;
  }

  /** Ends all at once. */
  kill(): void {
    this.#stopping.abort();
    for (const worker of this.#alive) worker.kill();
  }
}

/** Waits for `work`; what takes longer than `ms` is reported to `late`. */
async function within(work: Promise<unknown>, ms: number, late: () => void): Promise<void> {
  const timer = setTimeout(late, ms);
  await work;
  clearTimeout(timer);
}
