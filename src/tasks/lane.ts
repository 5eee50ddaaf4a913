/**
 * The steps of one kind that are in flight. Chooses the next ones, so that thousands of tasks of one workspace do not hold up a task of
 * another. docs/tasks.md.
 */
import type { TaskServices } from "./engine.ts";
import {
  accountOf,
  claimDue,
  findDue,
  releaseClaim,
  type DueTask,
  type LaneName,
} from "./lease.ts";
import { createSlotLimiter, type SlotLimiter } from "./slot-limiter.ts";
import type { PollRateLimiter } from "./poll-rate-limiter.ts";
import type { DatabaseContact } from "./local-lease.ts";
import type { Job } from "./rows.ts";

/** Slots for steps; one workspace gets at most half of them. */
const stepsMax = 128;
const dueReadMax = 2 * stepsMax;
/** Milliseconds between queries that skip full workspaces and accounts: such a query scans everything that these have due. */
const pastFullMs = 100;

interface LaneOptions {
  /** All jobs that this process works on. */
  readonly underWay: () => Job[];
  readonly contact: DatabaseContact;
  /** True once no more steps may begin. */
  readonly isClosed: () => boolean;
  /** Runs one step; never rejects. */
  readonly take: (job: Job) => Promise<void>;
}

/** Chooses the tasks that may begin now, and takes their slots. `isPaced`: a task waits for its account's rate. */
function choose(
  found: readonly DueTask[],
  slots: SlotLimiter,
  pollRateLimiter: PollRateLimiter,
): { readonly chosen: DueTask[]; readonly isPaced: boolean } {
  let isPaced = false;
  const chosen = found.filter((one) => {
    if (!slots.take(one)) return false;
    if (one.account === null || pollRateLimiter.begin(one.account, one)) return true;
    slots.release(one);
    isPaced = true;
    return false;
  });
  return { chosen, isPaced };
}

/** Returns a function: milliseconds to wait before a query that skips this many workspaces and accounts. */
function createPastFull(): (count: number) => number {
  let atMs = -Infinity;
  return (count) => {
    if (count === 0) return 0;
    const nowMs = performance.now();
    const ms = atMs + pastFullMs - nowMs;
    if (ms <= 0) atMs = nowMs;
    return ms;
  };
}

export class Lane {
  /** The jobs in flight, each with the end of its step. */
  readonly jobs = new Map<Job, Promise<void>>();
  readonly #services: TaskServices;
  readonly #name: LaneName;
  readonly #options: LaneOptions;
  readonly #slots = createSlotLimiter({ total: stepsMax });
  readonly #waitMs = createPastFull();

  constructor(services: TaskServices, name: LaneName, options: LaneOptions) {
    this.#services = services;
    this.#name = name;
    this.#options = options;
  }

  /** Claims due tasks while slots are free, and starts their steps; `again` asks for another look in that many milliseconds. */
  async fill(again: (ms: number) => void): Promise<void> {
    const { contact, underWay, isClosed } = this.#options;
    const { pollRateLimiter } = this.#services;
    while (this.#slots.hasRoom() && !isClosed()) {
      const { fullWorkspaces } = this.#slots.full();
      const passedOver =
        this.#name === "poll"
          ? [...pollRateLimiter.pausedAccounts(), ...pollRateLimiter.full()]
          : [];
      const ms = this.#waitMs(fullWorkspaces.length + passedOver.length);
      if (ms > 0) return again(ms);
      const takesAbandoned = contact.isStable();
      this.#wakeAfterPause(again);
      const found = await findDue(this.#services, {
        lane: this.#name,
        limit: dueReadMax,
        fullWorkspaces,
        passedOver,
        underWay: underWay(),
        takesAbandoned,
      });
      if (isClosed()) return;
      const { chosen, isPaced } = choose(found, this.#slots, pollRateLimiter);
      if (isPaced) this.#wakeAfterPause(again);
      if (chosen.length === 0 && !isPaced) return;
      await this.#claim(chosen, takesAbandoned, again);
      if (chosen.length === found.length && found.length < dueReadMax) return;
    }
  }

  /** Claims the chosen tasks that no other process has claimed meanwhile, and begins their steps. */
  async #claim(
    chosen: readonly DueTask[],
    takesAbandoned: boolean,
    again: (ms: number) => void,
  ): Promise<void> {
    const claimed = new Set<string>();
    const claim = { lane: this.#name, takesAbandoned };
    try {
      const jobs = await claimDue(this.#services, chosen, claim);
      if (this.#options.isClosed()) return await releaseClaim(this.#services, jobs);
      for (const job of jobs) {
        claimed.add(job.id);
        this.#begin(job, again);
      }
    } finally {
      for (const one of chosen) if (!claimed.has(one.id)) this.#giveBack(one);
    }
  }

  #begin(job: Job, again: (ms: number) => void): void {
    const step = this.#options.take(job).finally(() => {
      this.jobs.delete(job);
      const isAwaited = this.#services.pollRateLimiter.end(accountOf(job), job);
      if (this.#slots.release(job) || isAwaited) again(0);
    });
    this.jobs.set(job, step);
  }

  /** Frees the slots of a task that was not claimed. */
  #giveBack(one: DueTask): void {
    this.#slots.release(one);
    if (one.account !== null) this.#services.pollRateLimiter.end(one.account, one);
  }

  /** Looks again once the next account may be polled. */
  #wakeAfterPause(again: (ms: number) => void): void {
    const ms = this.#name === "poll" ? this.#services.pollRateLimiter.waitMs() : undefined;
    if (ms !== undefined) again(ms);
  }
}
