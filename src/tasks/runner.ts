/**
 * The runner: takes the tasks whose step is due, a bounded number at a time, and takes each step. Any number of processes
 * run one each on the same database. What a dead process held is taken over when its lease ends. Design section 6.
 */
import { abandonedStep, askStep } from "./ask-step.ts";
import type { TaskServices } from "./engine.ts";
import { claimDue, dueAt, extendLeases, writeJob } from "./lease.ts";
import { expire, pollStep } from "./poll-step.ts";
import type { Job } from "./rows.ts";
import { sweepKeys } from "./idempotency.ts";

/** Steps of waiting tasks and of running ones have places of their own: a long answer must not hold up the polls. */
const stepsMax = { queued: 64, running: 64 } as const;
type Lane = keyof typeof stepsMax;

/** After a step that failed for a reason of ours: the database, a bug. */
const failedPauseMs = 5_000;
const housekeepingMs = 600_000;
/** How long steps under way may take to end when the gateway stops; vendors that work while asked take longest. */
const closeMs = 20_000;

export interface Runner {
  /** Looks for due tasks now, or at a moment to come. */
  wakeAt(ms: number): void;
  /** Takes no more steps, and resolves when those under way have been taken. */
  close(): Promise<void>;
}

/** Starts a runner. */
export function startRunner(services: TaskServices): Runner {
  const { clock, log, timing } = services;
  const working: Record<Lane, Map<Job, Promise<void>>> = { queued: new Map(), running: new Map() };
  let closed = false;
  let looking: Promise<void> | undefined;
  let lookAgain = false;
  let timer: NodeJS.Timeout | undefined;
  let timerMs = Infinity;

  async function fill(lane: Lane): Promise<void> {
    const places = working[lane];
    const free = stepsMax[lane] - places.size;
    if (free <= 0 || closed) return;
    const jobs = await claimDue(services, lane, free);
    for (const job of jobs) {
      const step = takeStep(services, job).finally(() => {
        places.delete(job);
        // A full lane had to leave some: there is room again.
        if (places.size === stepsMax[lane] - 1) wakeAt(clock.now());
      });
      places.set(job, step);
    }
  }

  async function look(): Promise<void> {
    do {
      lookAgain = false;
      try {
        await Promise.all([fill("queued"), fill("running")]);
      } catch (error) {
        log.warn({ err: error }, "due tasks could not be looked for");
      }
    } while (lookAgain && !closed);
    looking = undefined;
  }

  function lookNow(): void {
    timerMs = Infinity;
    if (closed) return;
    if (looking) lookAgain = true;
    else looking = look();
  }

  function wakeAt(ms: number): void {
    if (closed || ms >= timerMs) return;
    clearTimeout(timer);
    timerMs = ms;
    timer = setTimeout(lookNow, Math.max(ms - clock.now(), 0));
  }

  const sweep = setInterval(lookNow, timing.sweepMs);
  const lease = setInterval(() => {
    extendLeases(services, [...working.queued.keys(), ...working.running.keys()]).catch(
      (error: unknown) => log.warn({ err: error }, "leases of tasks could not be extended"),
    );
  }, timing.leaseMs / 3);
  const housekeeping = setInterval(() => {
    sweepKeys(services.database, clock.now()).catch((error: unknown) =>
      log.warn({ err: error }, "idempotency keys could not be swept"),
    );
  }, housekeepingMs);
  lookNow();

  return {
    wakeAt,
    async close() {
      closed = true;
      clearTimeout(timer);
      clearInterval(sweep);
      clearInterval(housekeeping);
      await looking;
      const steps = [...working.queued.values(), ...working.running.values()];
      let late: NodeJS.Timeout | undefined;
      await Promise.race([
        Promise.all(steps),
        new Promise((resume) => (late = setTimeout(resume, closeMs))),
      ]);
      clearTimeout(late);
      clearInterval(lease);
    },
  };
}

/** One step of a task. Never rejects: a step that fails is taken again later. */
async function takeStep(services: TaskServices, job: Job): Promise<void> {
  try {
    if (job.upstreamId === null && job.asking) await abandonedStep(services, job);
    else if (services.clock.now() >= job.expiresAt.getTime())
      await expire(services, job, "The task did not end before its deadline.");
    else if (job.upstreamId === null) await askStep(services, job);
    else await pollStep(services, job);
  } catch (error) {
    services.log.error({ err: error, task: job.id }, "a step of a task failed; it is taken again");
    const nowMs = services.clock.now();
    await writeJob(services.database, job, dueAt(nowMs + failedPauseMs), { nowMs }).catch(
      () => undefined,
    );
  }
}
