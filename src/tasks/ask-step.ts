/**
 * The step of a task that no vendor has taken: ask the next one. The intent is written down before a word is said, so that
 * after a crash an outcome that nobody knows is known to be unknown: such a job is never sent again (T81).
 * Design section 6.
 */
import {
  AskFailure,
  outcomeOfRefusal,
  type MediaRefusal,
  type MediaState,
} from "../upstream/index.ts";
import { askTarget, nextTarget, withAttempt, withOutcome, type Target } from "./attempt.ts";
import { collect } from "./collect.ts";
import { endTask } from "./end.ts";
import type { TaskServices } from "./engine.ts";
import { dueAt, persistently, writeJob } from "./lease.ts";
import type { Job } from "./rows.ts";
import type { TaskError } from "./types.ts";

/** All offers are tried this often before a task fails; the pauses between the rounds. */
const roundPausesMs = [500, 2_000] as const;

/** What came of asking a vendor to start. */
type Answer =
  | MediaState
  | MediaRefusal
  | { readonly state: "unsent" | "unknown"; readonly message: string };

/** Asks the next vendor, and writes down what came of it. */
export async function askStep(services: TaskServices, job: Job): Promise<void> {
  const target = nextTarget(services, job);
  if (!target) {
    const message = "The provider of this task is not configured any more.";
    return tryNext(services, job, { code: "no_provider_available", message });
  }
  await services.at("ask.claimed");
  const asked = await intend(services, job, target);
  if (!asked) return;
  await services.at("ask.intended");
  const answer = await put(services, asked, target);
  await services.at("ask.answered");
  await note(services, asked, { target, answer });
}

/** Ends a task of which nobody knows whether a vendor has it. */
async function endUncertain(services: TaskServices, job: Job): Promise<void> {
  const message =
    "It is not known whether the provider took this task, so it was not sent again. Nothing was charged; submit it anew.";
  await endTask(services, job, failed("submission_uncertain", message));
}

/** The step of a task that was being asked for by a process that died: it may have been taken. */
export function abandonedStep(services: TaskServices, job: Job): Promise<void> {
  const attempts = withOutcome(job.attempts, "unknown", "the gateway stopped while it asked");
  return endUncertain(services, { ...job, attempts });
}

const failed = (code: string, message: string) =>
  ({ status: "failed", error: { code, message } }) as const;

/** Writes the intent; undefined when the job is not ours any more. */
async function intend(services: TaskServices, job: Job, target: Target): Promise<Job | undefined> {
  const nowMs = services.clock.now();
  const attempts = withAttempt(job, target, nowMs);
  // A vendor that works while the connection is open works from now on.
  const status = target.dialect.synchronous === true ? "running" : job.status;
  const written = await writeJob(
    services.database,
    job,
    {
      status,
      asking: true,
      provider: target.provider.id,
      credential: target.credential.id,
      upstream_model: target.offer.upstreamModel,
      attempts: JSON.stringify(attempts),
    },
    { nowMs },
  );
  return written
    ? {
        ...job,
        status,
        attempts,
        asking: true,
        provider: target.provider.id,
        credential: target.credential.id,
      }
    : undefined;
}

async function put(services: TaskServices, job: Job, target: Target): Promise<Answer> {
  const { dialect, provider, credential, offer } = target;
  const work = {
    request: job.request,
    upstreamModel: offer.upstreamModel,
    id: job.id,
    open: services.openUpload,
  };
  try {
    const request = dialect.submit(provider, credential.apiKey, work);
    const { status, body } = await askTarget(services, target, request);
    return dialect.readSubmit(status, body, work);
  } catch (error) {
    if (!(error instanceof AskFailure)) throw error;
    return { state: error.sent ? "unknown" : "unsent", message: error.message };
  }
}

async function note(
  services: TaskServices,
  job: Job,
  { target, answer }: { readonly target: Target; readonly answer: Answer },
): Promise<void> {
  const told = (outcome: string, message?: string): Job => ({
    ...job,
    attempts: withOutcome(job.attempts, outcome, message),
  });
  switch (answer.state) {
    case "pending":
      return taken(services, told("taken"), answer.id);
    case "succeeded":
      return collect(services, told("ok"), { target, answer });
    case "failed":
      await endTask(services, told("failed", answer.message), failed(answer.code, answer.message));
      return;
    case "refused": {
      const { blame, code, message, uncertain } = outcomeOfRefusal(answer);
      const attempted = told(`${answer.status}`, answer.message);
      if (uncertain) return endUncertain(services, attempted);
      if (blame === "provider") return tryNext(services, attempted, { code, message });
      await endTask(services, attempted, failed(code, message));
      return;
    }
    case "unsent":
      return tryNext(services, told("unsent", answer.message), {
        code: "upstream_error",
        message: "The connection to the provider failed.",
      });
    case "unknown":
      return endUncertain(services, told("unknown", answer.message));
    default:
      return endUncertain(services, told(answer.state));
  }
}

/** The vendor has the job: its id is written down before anything else. */
async function taken(services: TaskServices, job: Job, id: string | undefined): Promise<void> {
  if (id === undefined) return endUncertain(services, job);
  const nowMs = services.clock.now();
  const dueMs = nowMs + services.timing.firstPollMs;
  await persistently(() =>
    writeJob(
      services.database,
      job,
      {
        ...dueAt(Math.min(dueMs, job.expiresAt.getTime())),
        status: "running",
        asking: false,
        upstream_id: id,
        attempts: JSON.stringify(job.attempts),
      },
      { nowMs },
    ),
  );
  services.due(dueMs);
  await services.at("ask.noted");
}

/** The attempt failed, and surely left nothing behind: the next offer's turn, or the end. */
async function tryNext(services: TaskServices, job: Job, error: TaskError): Promise<void> {
  const attempt = job.attempt + 1;
  const round = Math.floor(attempt / job.offers.length);
  const pauseMs = attempt % job.offers.length === 0 ? roundPausesMs[round - 1] : 0;
  if (pauseMs === undefined) {
    await endTask(services, job, { status: "failed", error });
    return;
  }
  const nowMs = services.clock.now();
  const change = {
    ...dueAt(nowMs + pauseMs),
    asking: false,
    attempt,
    attempts: JSON.stringify(job.attempts),
  };
  await persistently(() => writeJob(services.database, job, change, { nowMs }));
  services.due(nowMs + pauseMs);
  await services.at("ask.noted");
}
