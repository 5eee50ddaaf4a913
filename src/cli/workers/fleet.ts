/** Keeps the workers running: starts them, restarts those that die, replaces them one after the other, stops them all. */
import { adviceOnEnd } from "./ended.ts";
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../../base/log.ts";
import type { FirstStart } from "../first-start.ts";
import { watchLiveness, type LivenessLimits } from "./liveness.ts";
import { Hub } from "./hub.ts";
import type { ToSupervisor } from "./messages.ts";
import type { WorkerProcess } from "./worker-process.ts";

/** A worker that dies after running this long is restarted without a pause. */
const stableMs = 10_000;
const pauseMsMax = 5_000;

/** Limits on retrying a worker that does not start. */
export interface RestartLimits {
  /** Pause before the second attempt; it doubles before each further one. */
  readonly pauseMs: number;
  /** Consecutive failures of every worker after which the gateway gives up. */
  readonly failuresMax: number;
}

const restartLimitsDefault: RestartLimits = { pauseMs: 200, failuresMax: 6 };
/** Time limit for a worker's end, in addition to the drain: calls, tasks and callbacks in flight have limits of their own. */
const endMsMax = 45_000;
/** Time limit for calls in flight of a replaced worker. */
const replacedMsMax = 600_000;

/** Calls are then served with two configurations. */
const halfReplaced =
  "a new worker did not start: those replaced before it have the configuration of now, the others that of before; reload again";

export interface FleetOptions {
  readonly count: number;
  readonly start: (
    number: number,
    onMessage: (worker: WorkerProcess, message: ToSupervisor) => void,
  ) => WorkerProcess;
  readonly log: Log;
  /** The default ones if absent. */
  readonly trials?: RestartLimits | undefined;
  /** The default one if absent. */
  readonly liveness?: LivenessLimits | undefined;
  /** Called if a worker could not be restarted: its waiting connections must go to others. */
  readonly failed: (number: number) => void;
  /** Called if no worker runs and none could be started; `fix` is the advice, if known. */
  readonly gaveUp: (error: Error, fix: string | undefined) => void;
}

interface Place {
  readonly number: number;
  current: WorkerProcess;
  failures: number;
  /** Settles when the replacement in progress has taken over the place, or has failed. */
  replacement?: Promise<boolean>;
}

/** The result of starting all workers. */
export interface Started {
  readonly first: FirstStart | undefined;
  readonly metricsUrl: string | undefined;
}

export class Fleet {
  readonly #options: FleetOptions;
  readonly #restartLimits: RestartLimits;
  readonly #hub: Hub;
  readonly #places: Place[] = [];
  readonly #alive = new Set<WorkerProcess>();
  readonly #stopping = new AbortController();

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#restartLimits = options.trials ?? restartLimitsDefault;
    this.#hub = new Hub(options.count);
  }

  /** Starts all workers. @throws WorkerFailedError of the first if none starts */
  async start(): Promise<Started> {
    for (let number = 1; number <= this.#options.count; number += 1)
      this.#places.push({ number, current: this.#start(number), failures: 0 });
    const starts = await Promise.allSettled(this.#places.map(({ current }) => current.ready));
    const ready = starts.flatMap((start) => (start.status === "fulfilled" ? [start.value] : []));
    if (ready.length === 0) throw (starts[0] as PromiseRejectedResult).reason;
    for (const place of this.#places) void this.#keepRunning(place);
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
        void watchLiveness(worker, this.#options.log, this.#options.liveness);
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

  /** Elects the ready worker with the lowest number to poll for work that no signal announced; the others do not poll. */
  #elect(): void {
    const ready = [...this.#alive].filter(({ state }) => state === "ready");
    const elected = ready.reduce<WorkerProcess | undefined>(
      (best, worker) => (best === undefined || worker.number < best.number ? worker : best),
      undefined,
    );
    for (const worker of this.#alive) worker.send({ kind: "sweeps", on: worker === elected });
  }

  /** Restarts a place's worker whenever it dies, until another one replaces it. */
  async #keepRunning(place: Place): Promise<void> {
    for (;;) {
      const worker = place.current;
      const how = await worker.ended;
      await place.replacement;
      if (this.#stopping.signal.aborted || place.current !== worker) return;
      const livedMs = performance.now() - worker.startedMs;
      if (worker.state === "ready" && livedMs > stableMs) place.failures = 0;
      // If no process can be started in its place, it is found here again: its long life counts once.
      worker.state = "leaving";
      const end = { worker: place.number, how, ...adviceOnEnd(how) };
      this.#options.log.error(end, "a worker ended; it is started again");
      await this.#restart(place);
      if (this.#stopping.signal.aborted) return;
    }
  }

  /** Tries once more to start a place's worker, after a pause that grows with each failure. */
  async #restart(place: Place): Promise<void> {
    const { log, failed, gaveUp } = this.#options;
    const pauseMs = Math.min(this.#restartLimits.pauseMs * 2 ** (place.failures - 1), pauseMsMax);
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
    return (
      !runs && this.#places.every(({ failures }) => failures >= this.#restartLimits.failuresMax)
    );
  }

  /** Replaces all workers, one after the other. The old one leaves when the new one takes calls. */
  async reload(): Promise<void> {
    let replaced = 0;
    for (const place of this.#places) {
      // A worker that is starting may have read the configuration of before.
      await place.current.ready.catch(() => undefined);
      // A worker started now would not be told to stop, and would be killed with its calls.
      if (this.#stopping.signal.aborted) return;
      const old = place.current;
      // One that is not started again yet reads the current configuration anyway.
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

  /**
   * Puts a new worker into a place. If it does not start, the old one stays, and the result is false. `replaced`: the number of workers
   * replaced before.
   */
  async #replace(place: Place, replaced: number): Promise<boolean> {
    const { current: old, number } = place;
    let next: WorkerProcess | undefined;
    try {
      // If memory or descriptors are short, starting a process throws at once.
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
    // From now on: the old worker may have calls for minutes.
    void this.#keepRunning(place);
    this.#elect();
    return !this.#stopping.signal.aborted;
  }

  /** Stops all workers cleanly; kills those that still run after `leaveMs` and a limit. */
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

  /** Kills all workers at once. */
  kill(): void {
    this.#stopping.abort();
    for (const worker of this.#alive) worker.kill();
  }
}

/** Waits for `work`; calls `late` if it takes longer than `ms`. */
async function within(work: Promise<unknown>, ms: number, late: () => void): Promise<void> {
  const timer = setTimeout(late, ms);
  await work;
  clearTimeout(timer);
}
