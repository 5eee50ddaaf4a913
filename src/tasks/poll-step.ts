/**
 * The step of a task that a vendor has: ask how it stands, at the provider and with the key that took it (T84).
 * A poll that fails is not a failure of the task (T80). docs/tasks.md.
 */
import type { KeyedCandidate } from "../attempts/index.ts";
import {
  AskFailure,
  asAnswered,
  type MediaDialect,
  type MediaRefusal,
  type MediaState,
} from "../upstream/index.ts";
import { askAbout, takenTarget, warnOf, withOutcome } from "./attempt.ts";
import { collect } from "./collect.ts";
import { endTask } from "./end.ts";
import type { TaskServices } from "./engine.ts";
import { dueAt, writeJob, type JobChange } from "./lease.ts";
import type { Job } from "./rows.ts";
import { traceAsked } from "./trace.ts";

type Answer =
  | MediaState
  | MediaRefusal
  | { readonly state: "unreachable"; readonly message: string };

/** Asks the vendor once, and writes down what it says; a job that is still not done at its deadline has expired. */
export async function pollStep(services: TaskServices, job: Job): Promise<void> {
  const target = takenTarget(services, job);
  if (!target) {
    services.log.warn(
      { task: job.id, provider: job.provider },
      "the provider or key of a running task is not configured any more; it is waited for until its deadline",
    );
    return later(services, job, slowestPollMs);
  }
  await services.at("poll.begin");
  const answer = await poll(services, job, target);
  traceAsked(job, target, answer);
  await services.at("poll.answered");
  if (troubles.includes(answer.state)) warnOf(services, job, answer);
  const noted = { ...job, attempts: withOutcome(job.attempts, answer.state) };
  switch (answer.state) {
    case "succeeded":
      await collect(services, noted, { target, answer });
      return;
    case "failed": {
      const { code, message } = answer;
      await endTask(services, noted, { status: "failed", error: { code, message } });
      return;
    }
    case "expired":
      return expire(services, noted, "The vendor did not finish it in time.");
    case "canceled":
      await endTask(services, noted, {
        status: "canceled",
        error: { code: "canceled", message: "The vendor canceled the task." },
      });
      return;
    case "missing":
      return missed(services, job, target.dialect);
    default: {
      const pause = Math.max(pauseMs(services, job, target.dialect), askedPauseMs(answer));
      return later(services, job, pause, { misses: 0, missing_since: null });
    }
  }
}

/** How long a vendor that asks to be left alone is left alone: its job may be done meanwhile, and its caller waits. */
const askedPauseMsMax = 120_000;

/** The pause that a refusal asks for, if any. */
const askedPauseMs = (answer: Answer): number =>
  answer.state === "refused" ? Math.min(answer.retryAfterMs ?? 0, askedPauseMsMax) : 0;

/** States in which the vendor failed to make it, or to say how it stands. */
const troubles: readonly Answer["state"][] = ["failed", "refused", "unreachable"];

/** Whether a task's deadline has passed. */
export const isOver = ({ clock }: TaskServices, { expiresAt }: Job): boolean =>
  clock.now() >= expiresAt.getTime();

/** Ends a task whose time is over. */
export async function expire(
  services: TaskServices,
  job: Job,
  message = "The task did not end before its deadline.",
): Promise<void> {
  await endTask(services, job, { status: "expired", error: { code: "expired", message } });
}

/** Asks the vendor that has the job how it stands. */
export async function poll(
  services: TaskServices,
  job: Job,
  target: KeyedCandidate,
): Promise<Answer> {
  const { dialect, provider, credential } = target;
  try {
    const request = dialect.poll(provider, credential.apiKey, job.upstreamId!);
    const answer = await askAbout(services, job, target, request);
    const read = dialect.readPoll(answer.status, answer.body, job.upstreamId!);
    return asAnswered(provider, read, answer, services.clock.now());
  } catch (error) {
    if (error instanceof AskFailure) return { state: "unreachable", message: error.message };
    throw error;
  }
}

/** The vendor does not know the job: right after it took it that may pass; for good it has forgotten it. */
async function missed(services: TaskServices, job: Job, dialect: MediaDialect): Promise<void> {
  const nowMs = services.clock.now();
  const misses = job.misses + 1;
  const since = job.missingSince?.getTime() ?? nowMs;
  const { missesMin, missingMs } = services.timing;
  if (misses >= missesMin && nowMs - since >= missingMs)
    return expire(services, job, "The vendor does not know this task any more.");
  return later(services, job, pauseMs(services, job, dialect), {
    misses,
    missing_since: new Date(since),
  });
}

const slowestPollMs = 15_000;

/**
 * Half of the time since the task was made: soon after the start polls are close, later as far apart as the vendor asks.
 * A task that seems to be made in the future is of a clock that was set back.
 */
function pauseMs({ clock, timing }: TaskServices, job: Job, dialect: MediaDialect): number {
  const ageMs = Math.abs(clock.now() - job.createdAt.getTime());
  return Math.min(Math.max(ageMs / 2, timing.firstPollMs), dialect.pollSeconds * 1000);
}

async function later(
  services: TaskServices,
  job: Job,
  afterMs: number,
  change: JobChange = {},
): Promise<void> {
  if (isOver(services, job)) return expire(services, job);
  const nowMs = services.clock.now();
  const dueMs = Math.min(nowMs + afterMs, job.expiresAt.getTime());
  await writeJob(services.database, job, { ...change, ...dueAt(dueMs) }, { nowMs });
  services.due(dueMs);
}
