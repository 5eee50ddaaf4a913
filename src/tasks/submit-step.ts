/**
 * The step of a task that no vendor has taken: submit it to the next one. The intent is written before the request is sent. So
 * after a crash the gateway knows that the outcome is unknown, and never submits such a job again (T81).
 * docs/tasks.md.
 */
import {
  expectedBytes,
  PictureRoom,
  logFailedAttempt,
  nextAfter,
  reportFailure,
  type KeyedCandidate,
} from "../attempts/index.ts";
import { permits } from "../routing/index.ts";
import { retryWhileAway } from "../storage/index.ts";
import { maskAnswerWithHeaders, AskFailure, type MediaState } from "../upstream/index.ts";
import {
  askTarget,
  nextTarget,
  offerOf,
  triesAt,
  withAttempt,
  withOutcome,
  wordsBytesMax,
} from "./attempt.ts";
import { collect, withFetchSlot } from "./collect.ts";
import { endTask, failed } from "./end.ts";
import type { TaskServices } from "./engine.ts";
import { writeJob, writeRetryMs } from "./lease.ts";
import { notTaken, unanswered, uncertain, type NotTaken } from "./not-taken.ts";
import type { Job } from "./rows.ts";
import { isLeaseValid } from "./local-lease.ts";
import { pauseAfterRoundMs } from "./rounds.ts";
import { nextStep } from "./next-step.ts";
import { logOrphanedResult } from "./orphaned-job.ts";
import { taken } from "./taken.ts";
import { traceparentFor, traceAsked } from "./trace.ts";
import type { TaskError } from "./types.ts";

/** The outcome of a submission to a vendor. */
type Answer = Extract<MediaState, { state: "pending" | "succeeded" }> | NotTaken;

/** Submits the job to the next vendor, and writes the outcome. */
export async function submitStep(services: TaskServices, job: Job): Promise<void> {
  const target = nextTarget(services, job);
  if (!target || !(await maySubmit(services, job, target))) {
    const message = "No provider of this task is available.";
    return tryNext(services, job, { code: "no_provider_available", message });
  }
  if (wouldLoseResult(services, target)) {
    await nextStep(services, job, services.timing.shortageMs);
    return;
  }
  await services.at("ask.claimed");
  const lease = services.budget.lease();
  const expected = expectedAnswer(services, job, target);
  // A task can wait, until its own deadline.
  if (!lease.tryTake(expected)) {
    await nextStep(services, job, services.timing.shortageMs);
    return;
  }
  try {
    await submitWithBudget(services, job, { target, room: new PictureRoom(lease, expected) });
  } finally {
    lease.release();
  }
}

/**
 * True if a submission would be wasted: a synchronous vendor charges for its answer, and our storage cannot keep the result now.
 * Other vendors keep the result and can be asked again.
 */
const wouldLoseResult = ({ files }: TaskServices, { dialect }: KeyedCandidate): boolean =>
  dialect.synchronous === true && files.failure !== undefined;

/** Bytes of the budget for an answer that contains its pictures; at most half of the budget, so that it can always fit. */
function expectedAnswer(
  { budget }: TaskServices,
  { request }: Job,
  { dialect }: KeyedCandidate,
): number {
  if (dialect.synchronous !== true || request.kind !== "image") return 0;
  return Math.min(expectedBytes(request.n), budget.bytesMax / 2);
}

interface Budgeted {
  readonly target: KeyedCandidate;
  /** The memory for the answer. */
  readonly room: PictureRoom;
}

async function submitWithBudget(
  services: TaskServices,
  job: Job,
  { target, room }: Budgeted,
): Promise<void> {
  const asked = await writeIntent(services, job, target);
  if (!asked) return;
  await services.at("ask.intended");
  const begunMs = services.health.nowMs();
  const answer = await submit(services, asked, { target, room });
  await services.at("ask.answered");
  traceAsked(asked, target, answer);
  report(services, asked, { target, begunMs, answer });
  await writeOutcome(services, asked, { target, answer });
}

/**
 * True if this provider may be asked now. The limits of the caller's layers at submission apply to every
 * attempt, with today's tiers (T74). In the first round failing providers are skipped.
 */
async function maySubmit(
  services: TaskServices,
  job: Job,
  { offer, provider }: KeyedCandidate,
): Promise<boolean> {
  if (!permits(job.constraints, services.catalog(), job.model, provider.id)) return false;
  const isFirstRound = job.offers.length > 1 && job.attempt < job.offers.length;
  return !isFirstRound || services.health.admit(offer, provider);
}

/** The step of a task whose process died during a submission: the vendor may have taken it. */
export async function abandonedStep(services: TaskServices, job: Job): Promise<void> {
  const attempts = withOutcome(job.attempts, "unknown", "the gateway stopped while it asked");
  await endTask(services, { ...job, attempts }, failed(uncertain()));
}

/** Writes the intent; undefined if this process has lost the job. */
async function writeIntent(
  services: TaskServices,
  job: Job,
  target: KeyedCandidate,
): Promise<Job | undefined> {
  const nowMs = services.clock.now();
  const attempts = withAttempt(job, target, nowMs);
  // A synchronous vendor works from now on.
  const status = target.dialect.synchronous === true ? "running" : job.status;
  // Each provider drops fields that it does not support; the task's notes are those of the provider that is asked.
  const { notes } = offerOf(job);
  const change = {
    status,
    asking: true,
    ...(notes && { notes: JSON.stringify(notes) }),
    provider: target.provider.id,
    credential: target.credential.id,
    upstream_model: target.offer.upstreamModel,
    attempts: JSON.stringify(attempts),
  };
  // Retried if its answer was lost: an intent without a request would look like a submission of unknown outcome.
  const written = await retryWhileAway(writeRetryMs(change), () =>
    writeJob(services.database, job, change, { nowMs }),
  );
  return written
    ? {
        ...job,
        status,
        attempts,
        asking: true,
        notes: notes ?? job.notes,
        provider: target.provider.id,
        credential: target.credential.id,
      }
    : undefined;
}

/** Reports an attempt to health, and a failure to the log. The duration of the job is not known yet. */
function report(
  { health, log }: TaskServices,
  { id, attempts }: Job,
  { target, begunMs, answer }: Asked & { readonly begunMs: number },
): void {
  const begun = { ...target, begunMs };
  if (answer.state !== "not_taken") return health.succeeded(begun);
  const { status = null, outcome, message, health: said } = answer;
  const attempt = { ...attempts.at(-1)!, status, outcome, message };
  if (said) reportFailure({ health, log }, { id, begun, attempt }, said);
  else health.succeeded(begun);
  // Without a request it is no failure of the provider, but the operator has to know why the tasks wait.
  if (!said || answer.isLocalShortage === true) logFailedAttempt(log, id, attempt);
}

async function submit(
  services: TaskServices,
  job: Job,
  { target, room }: Budgeted,
): Promise<Answer> {
  const { dialect, provider, credential, offer } = target;
  const work = {
    request: job.request,
    upstreamModel: offer.upstreamModel,
    open: services.openUpload,
  };
  try {
    const request = dialect.submit(provider, credential.apiKey, work);
    const answer = await askTarget(services, target, request, {
      room,
      bytesMax: dialect.synchronous === true ? undefined : wordsBytesMax,
      traceparent: traceparentFor(job, target),
      maySend: () => isLeaseValid(job.localLease),
    });
    const read = dialect.readSubmit(answer.status, answer.body, work);
    const state = maskAnswerWithHeaders(provider, read, answer, services.clock.now());
    return state.state === "pending" || state.state === "succeeded" ? state : notTaken(state);
  } catch (error) {
    if (!(error instanceof AskFailure)) throw error;
    return unanswered(error);
  }
}

/** A vendor's answer, with the target that gave it. */
interface Asked {
  readonly target: KeyedCandidate;
  readonly answer: Answer;
}

async function writeOutcome(
  services: TaskServices,
  job: Job,
  { target, answer }: Asked,
): Promise<void> {
  const noted = (outcome: string, message?: string): Job => ({
    ...job,
    attempts: withOutcome(job.attempts, outcome, message),
  });
  if (answer.state === "pending")
    return taken(services, noted("taken"), { target, upstreamId: answer.id });
  if (answer.state === "succeeded") {
    const work = () => collect(services, noted("ok"), { target, answer });
    if (!(await withFetchSlot(job, answer, work))) logOrphanedResult(services, job, target);
    return;
  }
  if (answer.isLocalShortage === true) {
    // No request was sent, so remove the attempt.
    const attempts = job.attempts.slice(0, -1);
    await nextStep(services, { ...job, attempts }, services.timing.shortageMs);
    return;
  }
  const attempted = noted(answer.outcome, answer.message);
  switch (nextAfter(answer, services.health, target, triesAt(attempted, target.provider))) {
    case "other_credential":
      await nextStep(services, attempted, 0);
      return;
    case "next_candidate":
      return tryNext(services, attempted, answer.error, answer.retryAfterMs);
    case "end":
      await endTask(services, attempted, failed(answer.error));
  }
}

/** After an attempt that certainly left nothing behind: tries the next offer, starts the next round after a pause, or ends the task. */
async function tryNext(
  services: TaskServices,
  job: Job,
  error: TaskError,
  askedPauseMs?: number,
): Promise<void> {
  const attempt = job.attempt + 1;
  const round = attempt / job.offers.length;
  const waitedMs = services.clock.now() - job.createdAt.getTime();
  const { retryForMs } = services;
  const pauseMs = Number.isInteger(round)
    ? pauseAfterRoundMs({ round, waitedMs, retryForMs, askedPauseMs })
    : 0;
  if (pauseMs === undefined) return void (await endTask(services, job, failed(error)));
  const leftMs = job.expiresAt.getTime() - services.clock.now();
  await nextStep(services, job, Math.min(pauseMs, leftMs), { attempt });
}
