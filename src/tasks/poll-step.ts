/**
 * The step of a task that a vendor has: poll its state, at the provider and with the key of the submission (T84).
 * A poll that fails is not a failure of the task (T80). docs/tasks.md.
 */
import type { KeyedCandidate } from "../attempts/index.ts";
import { GatewayError } from "../base/errors.ts";
import {
  AskFailure,
  maskAnswerWithHeaders,
  DownloadError,
  outcomeOfRefusal,
  wordOf,
  type MediaDialect,
  type MediaRefusal,
  type MediaState,
} from "../upstream/index.ts";
import { askAbout, takenTarget, warnOf, withOutcome } from "./attempt.ts";
import { collect, withFetchSlot, type Succeeded } from "./collect.ts";
import { endTask, failed } from "./end.ts";
import type { TaskServices } from "./engine.ts";
import { accountOf, dueAt, writeJob, type JobChange } from "./lease.ts";
import { askedPauseMsMax } from "./rounds.ts";
import type { Job } from "./rows.ts";
import { troubleSoFar, writtenTrouble, type TroubleSoFar } from "./result-trouble.ts";
import { traceAsked } from "./trace.ts";

type Answer =
  | MediaState
  | MediaRefusal
  | { readonly state: "unreachable"; readonly message: string };

/** Polls the vendor once, and writes its answer. A job that is not done at its deadline expires. */
export async function pollStep(services: TaskServices, job: Job): Promise<void> {
  const target = takenTarget(services, job);
  if (!target) return postponeWithoutKey(services, job);
  await services.at("poll.begin");
  const begunMs = services.pollRateLimiter.nowMs();
  const answer = await poll(services, job, target);
  recordForRate(services, job, answer, begunMs);
  traceAsked(job, target, answer);
  await services.at("poll.answered");
  logTrouble(services, job, answer);
  if (target.isOtherKey && statesOfForeignKey.includes(answer.state))
    return postponeWithoutKey(services, job);
  const noted = { ...job, attempts: withOutcome(job.attempts, answer.state) };
  switch (answer.state) {
    case "succeeded":
      return withFetchSlot(job, answer, () => collectResult(services, job, { target, answer }));
    case "failed": {
      const { code, message } = answer;
      await endTask(services, noted, failed({ code, message }));
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
      return recordMiss(services, job, target.dialect, () =>
        expire(services, job, "The vendor does not know this task any more."),
      );
    case "refused":
      return refused(services, noted, { target, answer });
    default:
      return postpone(services, job, pauseMs(services, job, target.dialect), noMisses);
  }
}

/** Applies the answer to the account's rate of polls; the account's other jobs wait too. */
function recordForRate(services: TaskServices, job: Job, answer: Answer, begunMs: number): void {
  const { pollRateLimiter, clock, wakeRunnerAt } = services;
  const account = accountOf(job);
  // The slot is freed here, because the next work may take long, such as fetching the result.
  if (pollRateLimiter.end(account, job)) wakeRunnerAt(clock.now());
  if (answer.state === "unreachable") return;
  if (answer.state !== "refused" || !isAboutAccountRate(answer))
    return pollRateLimiter.answered(account);
  pollRateLimiter.refused(account, begunMs, answer.retryAfterMs);
}

/** True if the account is refused, and not the job: too many polls, or a vendor that says when it is back. */
const isAboutAccountRate = ({ status, retryAfterMs }: MediaRefusal): boolean =>
  status === 429 || (status >= 500 && retryAfterMs !== undefined);

/** The states that a key gets which may not see the job. */
const statesOfForeignKey: readonly Answer["state"][] = ["missing", "refused"];

/** No key can poll the job now. Its key or its provider may be configured again, so the task waits. */
function postponeWithoutKey(services: TaskServices, job: Job): Promise<void> {
  const { id, provider, credential } = job;
  if (services.pollTroubles.shouldLogStart(`${provider} ${credential} unknown`))
    services.log.warn(
      { task: id, provider, credential },
      "the provider or key of running tasks is not configured any more, or was changed; they are waited for until their deadlines",
    );
  return postpone(services, job, slowestPollMs);
}

/** The columns that a poll writes once the vendor has answered. */
const noMisses: JobChange = { misses: 0, missing_since: null };

/** A refused poll usually says nothing about the job. */
async function refused(
  services: TaskServices,
  job: Job,
  { target, answer }: { readonly target: KeyedCandidate; readonly answer: MediaRefusal },
): Promise<void> {
  const ended = endOfRefused(answer);
  if (ended === undefined) {
    const askedMs = Math.min(answer.retryAfterMs ?? 0, askedPauseMsMax);
    const pause = Math.max(pauseMs(services, job, target.dialect), askedMs);
    return postpone(services, job, pause, noMisses);
  }
  const { error, isSure } = ended;
  const end = async () => void (await endTask(services, job, failed(error)));
  return isSure ? end() : recordMiss(services, job, target.dialect, end);
}

/**
 * The end of the job, if the refusal means one. xAI reports with 400 that moderation has withheld the result. Another refusal that
 * blames the request is believed once it persists, like that of a vendor that does not know the job. Otherwise the gateway would poll
 * until the deadline, with the caller's money held.
 */
function endOfRefused(refusal: MediaRefusal) {
  const { fault, code, message } = outcomeOfRefusal(refusal);
  const isSure = code === "content_policy_violation";
  // A moderation that is down or busy has found nothing. A refusal without a code may come from an intermediary.
  if (refusal.status >= 500 || refusal.status === 429 || refusal.status === 408) return undefined;
  if (fault !== "caller" || !(isSure || wordOf(refusal) !== undefined)) return undefined;
  return { error: { code, message }, isSure };
}

/** The longest pause before a result is fetched again, in milliseconds. */
const refetchMsMax = 300_000;

/**
 * Collects a result that the vendor has made. If it cannot be fetched now, it is fetched again for some time: its vendor keeps it, and
 * has charged for it. If our storage refuses it, it is fetched again until the deadline, less and less often: each try transfers all of it.
 */
async function collectResult(
  services: TaskServices,
  job: Job,
  { target, answer }: { readonly target: KeyedCandidate; readonly answer: Succeeded },
): Promise<void> {
  const nowMs = services.clock.now();
  const begunMs = performance.now();
  const tookMs = () => performance.now() - begunMs;
  const waitedMs = ({ sinceMs }: TroubleSoFar) => nowMs - sinceMs + tookMs();
  const { downloadMs, missesMin } = services.timing;
  const unfetched = troubleSoFar(job, "not_fetched", nowMs);
  // If no process tried, because gateways were stopped or a clock has jumped, time alone says little.
  const canRetryLater = () =>
    tookMs() < downloadMs && (unfetched.tries < missesMin || waitedMs(unfetched) < downloadMs);
  const noted = { ...job, attempts: withOutcome(job.attempts, answer.state) };
  try {
    await collect(services, noted, { target, answer, canRetryLater });
  } catch (error) {
    // Then nothing can be written. An unreachable bucket fails with the same codes as a database, but never with this one.
    if (error instanceof GatewayError && error.code === "database_unavailable") throw error;
    const trouble = error instanceof DownloadError ? "not_fetched" : "not_stored";
    const soFar = troubleSoFar(job, trouble, nowMs);
    const fields = { err: error, task: job.id, tries: soFar.tries };
    if (trouble === "not_fetched")
      services.log.warn(fields, "a result could not be fetched; it is tried again");
    else services.log.error(fields, "a result could not be kept; it is tried again");
    const growing = Math.min(waitedMs(soFar) / 2, refetchMsMax);
    const pause = Math.max(pauseMs(services, job, target.dialect), growing);
    return postpone(services, job, pause, writtenTrouble(job, trouble, soFar));
  }
}

/** States in which the vendor failed to make the result, or to report its state. */
const troubles: readonly Answer["state"][] = ["failed", "refused", "unreachable"];

/**
 * Logs a job that failed. Trouble with a vendor, and not with a job, is logged when it begins and when it is over:
 * all its tasks meet it at each poll.
 */
function logTrouble(services: TaskServices, job: Job, answer: Answer): void {
  const { log, pollTroubles } = services;
  const { provider, credential } = job;
  const away = `${provider} ${credential} unreachable`;
  if (answer.state !== "unreachable" && pollTroubles.shouldLogRecovery(away))
    log.info({ provider, credential }, "a provider answers polls of its tasks again");
  if (!troubles.includes(answer.state)) return;
  const what = "status" in answer ? `${provider} ${credential} refused ${answer.status}` : away;
  if (answer.state === "failed" || pollTroubles.shouldLogStart(what)) warnOf(services, job, answer);
}

/** True if a task's deadline has passed. */
export const isPastDeadline = ({ clock }: TaskServices, { expiresAt }: Job): boolean =>
  clock.now() >= expiresAt.getTime();

/** Ends a task as expired. */
export async function expire(
  services: TaskServices,
  job: Job,
  message = "The task did not end before its deadline.",
): Promise<void> {
  await endTask(services, job, { status: "expired", error: { code: "expired", message } });
}

/** Polls the vendor that has the job. */
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
    return maskAnswerWithHeaders(provider, read, answer, services.clock.now());
  } catch (error) {
    if (error instanceof AskFailure) return { state: "unreachable", message: error.message };
    throw error;
  }
}

/**
 * The vendor does not know the job, or refuses to talk about it. Soon after the submission that may pass; if it persists, `end` is
 * called.
 */
async function recordMiss(
  services: TaskServices,
  job: Job,
  dialect: MediaDialect,
  end: () => Promise<void>,
): Promise<void> {
  const nowMs = services.clock.now();
  const misses = job.misses + 1;
  const since = (job.misses === 0 ? undefined : job.missingSince?.getTime()) ?? nowMs;
  const { missesMin, missingMs } = services.timing;
  if (misses >= missesMin && nowMs - since >= missingMs) return end();
  return postpone(services, job, pauseMs(services, job, dialect), {
    misses,
    missing_since: new Date(since),
  });
}

const slowestPollMs = 15_000;

/**
 * Milliseconds until the next poll: half of the task's age, so polls are frequent at first, up to the vendor's own pause.
 * If a task was created in the future, the clock was set back.
 */
function pauseMs({ clock, timing }: TaskServices, job: Job, dialect: MediaDialect): number {
  const ageMs = Math.abs(clock.now() - job.createdAt.getTime());
  return Math.min(Math.max(ageMs / 2, timing.firstPollMs), dialect.pollSeconds * 1000);
}

async function postpone(
  services: TaskServices,
  job: Job,
  afterMs: number,
  change: JobChange = {},
): Promise<void> {
  if (isPastDeadline(services, job)) return expire(services, job);
  const nowMs = services.clock.now();
  const dueMs = Math.min(nowMs + afterMs, job.expiresAt.getTime());
  await writeJob(services.database, job, { ...change, ...dueAt(dueMs) }, { nowMs });
  services.wakeRunnerAt(dueMs);
}
