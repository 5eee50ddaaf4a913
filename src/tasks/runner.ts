/**
 * The runner: claims tasks whose step is due, a bounded number at a time, and runs each step. Any number of processes
 * run one each on the same database. The steps of a dead process are taken over at once, or when its lease ends. docs/tasks.md.
 */
import { coalesce } from "../base/coalesce.ts";
import { isTransient } from "../storage/index.ts";
import { abandonedStep, submitStep } from "./submit-step.ts";
import type { TaskServices } from "./engine.ts";
import { createDeadOwners } from "./dead-owners.ts";
import { Lane } from "./lane.ts";
import { dueAt, extendLeases, mendAfterClockJump, writeJob } from "./lease.ts";
import { expire, isPastDeadline, pollStep } from "./poll-step.ts";
import { DatabaseContact } from "./local-lease.ts";
import type { Job } from "./rows.ts";
import { sweepKeys } from "./idempotency.ts";
import { beginStep } from "./trace.ts";

/** Polls have slots of their own, so that the long answers of synchronous vendors do not hold them up. */
const laneNames = ["ask", "poll"] as const;

/** Milliseconds until a step is retried that failed for an internal reason: the database, a bug. */
const failedPauseMs = 5_000;
const housekeepingMs = 600_000;

export interface Runner {
  /** Looks for due tasks now, or at a later time, in Unix milliseconds. */
  wakeAt(ms: number): void;
  /** Starts no more steps: a step that begins while the gateway stops might be cut off. */
  stopSteps(): void;
  /** Resolves when the steps in flight have ended, however long that takes. Call it after `stopSteps`. */
  idle(): Promise<void>;
  /** Rests, and resolves when the steps in flight have ended, or their time is over. */
  close(): Promise<void>;
}

export function startRunner(services: TaskServices): Runner {
  const { clock, log } = services;
  const underWay = (): Job[] => lanes.flatMap(({ jobs }) => [...jobs.keys()]);
  const contact = new DatabaseContact(services.timing.leaseMs);
  const take = (job: Job) => runStep(services, job);
  const options = { underWay, contact, take, isClosed: () => closed };
  const lanes: readonly Lane[] = laneNames.map((name) => new Lane(services, name, options));
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let timerMs = Infinity;

  const looks = coalesce(async () => {
    try {
      await Promise.all(lanes.map((lane) => lane.fill((ms) => wakeAt(clock.now() + ms))));
      contact.answered();
    } catch (error) {
      contact.failed();
      log.warn({ err: error }, "due tasks could not be looked for");
    }
  });

  function lookNow(): void {
    timerMs = Infinity;
    if (!closed) looks.ask();
  }

  function wakeAt(ms: number): void {
    if (closed || ms >= timerMs) return;
    clearTimeout(timer);
    timerMs = ms;
    timer = setTimeout(lookNow, Math.max(ms - clock.now(), 0));
  }

  function stopSteps(): void {
    closed = true;
    clearTimeout(timer);
    chores.endSweeps();
  }

  async function idle(): Promise<void> {
    await looks.idle();
    await Promise.all(lanes.flatMap(({ jobs }) => [...jobs.values()]));
  }

  const chores = startChores(services, lookNow, underWay);
  lookNow();
  return {
    wakeAt,
    stopSteps,
    idle,
    async close() {
      stopSteps();
      await looks.idle();
      await endSteps(services, idle());
      chores.endLeases();
    },
  };
}

/** Periodic work: sweeps for due tasks, leases of long steps, clock jumps, old idempotency keys. */
function startChores(services: TaskServices, lookNow: () => void, held: () => readonly Job[]) {
  const { clock, log, timing, database, sweeps } = services;
  const attempt = (work: Promise<unknown>, message: string): void => {
    work.catch((error: unknown) => log.warn({ err: error }, message));
  };
  const elected = (work: () => void) => () => {
    if (sweeps()) work();
  };
  const gone = createDeadOwners(services);
  let isReleasing = false;
  const releaseDeadLeases = async (): Promise<void> => {
    if (isReleasing) return;
    isReleasing = true;
    try {
      if ((await gone.releaseLeases()) > 0) lookNow();
    } catch (error) {
      // The search for due tasks, which is as frequent, reports a database that is away.
      if (!isTransient(error)) throw error;
    } finally {
      isReleasing = false;
    }
  };
  const take = elected(() => {
    lookNow();
    attempt(releaseDeadLeases(), "tasks of gateways that are gone could not be looked for");
  });
  const sweep = setInterval(take, timing.sweepMs);
  const leases = setInterval(
    () => attempt(extendLeases(services, held()), "leases of tasks could not be extended"),
    timing.leaseMs / 3,
  );
  const mend = elected(() =>
    attempt(mendAfterClockJump(services), "tasks that a clock put off could not be looked for"),
  );
  mend();
  const mends = setInterval(mend, timing.mendMs);
  const keys = setInterval(
    elected(() => attempt(sweepKeys(database, clock.now()), "idempotency keys could not be swept")),
    housekeepingMs,
  );
  return {
    endSweeps() {
      for (const timer of [sweep, mends, keys]) clearInterval(timer);
    },
    endLeases: () => clearInterval(leases),
  };
}

/** Waits at most `closeMs` for the steps in flight. Half-way, `shutdown` stops those that could go on for longer. */
async function endSteps(
  { timing: { closeMs }, shutdown }: TaskServices,
  steps: Promise<unknown>,
): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const closeTimer = setTimeout(resolve, closeMs);
  const abortTimer = setTimeout(() => shutdown.abort(), closeMs / 2);
  await Promise.race([steps, over]);
  clearTimeout(closeTimer);
  clearTimeout(abortTimer);
}

type Step = (services: TaskServices, job: Job) => Promise<void>;

/** The step that a job is due for, with its name. */
function stepOf(services: TaskServices, job: Job): readonly [name: string, step: Step] {
  if (job.upstreamId === null && job.asking) return ["abandon", abandonedStep];
  // Even after its deadline: the vendor may have finished it while no gateway looked.
  if (job.upstreamId !== null) return ["poll", pollStep];
  return isPastDeadline(services, job) ? ["expire", expire] : ["ask", submitStep];
}

/** Runs one step of a task. Never rejects: a step that fails is retried later. */
export async function runStep(services: TaskServices, job: Job): Promise<void> {
  const [name, step] = stepOf(services, job);
  const span = beginStep(services, job, name);
  try {
    await step(services, span === undefined ? job : { ...job, span });
    span?.end();
  } catch (error) {
    span?.end("internal_error");
    services.log.error({ err: error, task: job.id }, "a step of a task failed; it is taken again");
    await retryLater(services, job).catch(() => undefined);
  }
}

/** Releases a job whose step failed for an internal reason, for a retry after a pause; a job at a vendor expires past its deadline. */
async function retryLater(services: TaskServices, job: Job): Promise<void> {
  if (job.upstreamId !== null && isPastDeadline(services, job)) return expire(services, job);
  const nowMs = services.clock.now();
  await writeJob(services.database, job, dueAt(nowMs + failedPauseMs), { nowMs });
}
