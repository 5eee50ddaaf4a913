/**
 * The step of a task that no vendor has taken: ask the next one. The intent is written down before a word is said, so that
 * after a crash an outcome that nobody knows is known to be unknown: such a job is never sent again (T81).
 * docs/tasks.md.
 */
import { countBeyond, expectedBytes, hasAnotherKey, type Target } from "../attempts/index.ts";
import { permits, type HealthAttempt, type Unanswered } from "../routing/index.ts";
import { persist, settleRetryMs } from "../storage/index.ts";
import {
  asAnswered,
  AskFailure,
  outcomeOfFailure,
  outcomeOfRefusal,
  unusableAnswer,
  type MediaRefusal,
  type MediaState,
} from "../upstream/index.ts";
import { askTarget, nextTarget, warnOf, withAttempt, withOutcome } from "./attempt.ts";
import { collect } from "./collect.ts";
import { endTask } from "./end.ts";
import type { TaskServices } from "./engine.ts";
import { dueAt, writeJob, type JobChange } from "./lease.ts";
import type { Job } from "./rows.ts";
import type { TaskError } from "./types.ts";

/** All offers are tried this often before a task fails; the pauses between the rounds. */
const roundPausesMs = [500, 2_000] as const;

/** What came of asking a vendor to start. */
type Answer =
  | MediaState
  | MediaRefusal
  /** No answer. `short`: we had no connection left. `unknown`: the vendor may have got the request. */
  | {
      readonly state: "short" | "unsent" | "unknown";
      readonly message: string;
      readonly health: Unanswered;
    };

/** Asks the next vendor, and writes down what came of it. */
export async function askStep(services: TaskServices, job: Job): Promise<void> {
  const target = nextTarget(services, job);
  if (!target || !mayAsk(services, job, target)) {
    const message = "No provider of this task is available.";
    return tryNext(services, job, { code: "no_provider_available", message });
  }
  await services.at("ask.claimed");
  const lease = services.budget.lease();
  const expected = expectedAnswer(services, job, target);
  // A task can wait, until its own deadline.
  if (!lease.tryTake(expected)) return nextStep(services, job, services.timing.shortageMs);
  try {
    await askHolding(services, job, { target, onBytes: countBeyond(lease, expected) });
  } finally {
    lease.release();
  }
}

/** Bytes of the budget that an answer takes which brings its pictures along; never so many that they cannot fit at all. */
function expectedAnswer({ budget }: TaskServices, { request }: Job, { dialect }: Target): number {
  if (dialect.synchronous !== true || request.kind !== "image") return 0;
  return Math.min(expectedBytes(request.n), budget.bytesMax / 2);
}

interface Holding {
  readonly target: Target;
  /** Counts what the answer takes. */
  readonly onBytes: (bytes: number) => void;
}

async function askHolding(
  services: TaskServices,
  job: Job,
  { target, onBytes }: Holding,
): Promise<void> {
  const asked = await intend(services, job, target);
  if (!asked) return;
  await services.at("ask.intended");
  const begunMs = services.health.nowMs();
  const answer = await put(services, asked, { target, onBytes });
  await services.at("ask.answered");
  noteHealth(services, { ...target, begunMs }, answer);
  if (answer.state !== "pending" && answer.state !== "succeeded") warnOf(services, asked, answer);
  await note(services, asked, { target, answer });
}

/**
 * Whether this provider may be asked now: what the caller's layers allowed when the task was submitted holds for every
 * attempt, by the tiers of today (T74); and while others have not had their turn, those in trouble are passed over.
 */
function mayAsk(services: TaskServices, job: Job, { offer, provider }: Target): boolean {
  if (!permits(job.constraints, services.catalog(), job.model, provider.id)) return false;
  const isFirstRound = job.offers.length > 1 && job.attempt < job.offers.length;
  return !isFirstRound || services.health.admit(offer, provider);
}

/** Ends a task of which nobody knows whether a vendor has it. */
async function endUncertain(services: TaskServices, job: Job, unusable?: string): Promise<void> {
  const why = unusable === undefined ? "" : `${unusableAnswer(unusable)} `;
  const message = `${why}It is not known whether the provider took this task, so it was not sent again. Nothing was charged; submit it anew.`;
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
  const change = {
    status,
    asking: true,
    provider: target.provider.id,
    credential: target.credential.id,
    upstream_model: target.offer.upstreamModel,
    attempts: JSON.stringify(attempts),
  };
  // Again where its answer was lost: an intent that stands and was not followed would look like a submission of unknown fate.
  const written = await persist(settleRetryMs, () =>
    writeJob(services.database, job, change, { nowMs }),
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

/** Tells health what came of an attempt; how long the job takes is not known yet. */
function noteHealth(services: TaskServices, attempt: HealthAttempt, answer: Answer): void {
  const { health } = services;
  if (answer.state === "refused") health.unanswered(attempt, outcomeOfRefusal(answer));
  else if ("health" in answer) health.unanswered(attempt, answer.health);
  else health.succeeded(attempt);
}

async function put(
  services: TaskServices,
  job: Job,
  { target, onBytes }: Holding,
): Promise<Answer> {
  const { dialect, provider, credential, offer } = target;
  const work = {
    request: job.request,
    upstreamModel: offer.upstreamModel,
    id: job.id,
    open: services.openUpload,
  };
  try {
    const request = dialect.submit(provider, credential.apiKey, work);
    const answer = await askTarget(services, target, request, { onBytes });
    const read = dialect.readSubmit(answer.status, answer.body, work);
    return asAnswered(provider, read, answer, services.clock.now());
  } catch (error) {
    if (!(error instanceof AskFailure)) throw error;
    const state = error.sent ? "unknown" : "unsent";
    return {
      state: error.failure === "shortage" ? "short" : state,
      message: error.message,
      health: outcomeOfFailure(error),
    };
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
      const { fault, code, message, uncertain, credential } = outcomeOfRefusal(answer);
      const attempted = told(`${answer.status}`, answer.message);
      if (uncertain) return endUncertain(services, attempted, answer.unusable);
      if (credential && hasAnotherKey(services.health, target, timesAsked(attempted, target)))
        return nextStep(services, attempted, 0);
      if (fault === "provider") return tryNext(services, attempted, { code, message });
      await endTask(services, attempted, failed(code, message));
      return;
    }
    case "short":
      // As if it had not been its turn: a task can wait, until its own deadline.
      return nextStep(
        services,
        { ...job, attempts: job.attempts.slice(0, -1) },
        services.timing.shortageMs,
      );
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
  const leftMs = job.expiresAt.getTime() - services.clock.now();
  const change = { status: "running", upstream_id: id } as const;
  return nextStep(services, job, Math.min(services.timing.firstPollMs, leftMs), change);
}

/** How often this provider has been asked for the job. */
const timesAsked = (job: Job, { provider }: Target): number =>
  job.attempts.filter((attempt) => attempt.provider === provider.id).length;

/** The attempt failed, and certainly left nothing behind: the next offer's turn, or the end. */
async function tryNext(services: TaskServices, job: Job, error: TaskError): Promise<void> {
  const attempt = job.attempt + 1;
  const round = Math.floor(attempt / job.offers.length);
  const pauseMs = attempt % job.offers.length === 0 ? roundPausesMs[round - 1] : 0;
  if (pauseMs !== undefined) return nextStep(services, job, pauseMs, { attempt });
  await endTask(services, job, { status: "failed", error });
}

/** Writes what came of asking; the next step is due after a pause. Without a change the same offer is asked once more. */
async function nextStep(
  services: TaskServices,
  job: Job,
  pauseMs: number,
  change: JobChange = {},
): Promise<void> {
  const nowMs = services.clock.now();
  const dueMs = nowMs + pauseMs;
  const attempts = JSON.stringify(job.attempts);
  const written = { ...dueAt(dueMs), asking: false, attempts, ...change };
  await persist(settleRetryMs, () => writeJob(services.database, job, written, { nowMs }));
  services.due(dueMs);
  await services.at("ask.noted");
}
