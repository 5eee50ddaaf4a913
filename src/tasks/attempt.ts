/** One attempt's parts: who is asked, with which key, in which dialect; and what is noted of it. */
import { createHash } from "node:crypto";
import {
  logFailedAttempt,
  mediaCandidate,
  mediaPool,
  type KeyedCandidate,
} from "../attempts/index.ts";
import { ask, type AskLimits, type MediaAsk } from "../upstream/index.ts";
import type { TaskServices } from "./engine.ts";
import type { Job, PlannedOffer } from "./rows.ts";
import { passedOn } from "./trace.ts";
import type { TaskAttempt } from "./types.ts";

/** The offer of the attempt that is to be made now: the offers in order, and from the first again. */
export const offerOf = (job: Job): PlannedOffer => job.offers[job.attempt % job.offers.length]!;

/** Who the next attempt asks; undefined where the configuration does not have it any more. */
export function nextTarget(
  { catalog, health }: TaskServices,
  job: Job,
): KeyedCandidate | undefined {
  const candidate = mediaCandidate(catalog(), offerOf(job), job.kind);
  return (
    candidate && {
      ...candidate,
      credential: health.credential(candidate.offer, candidate.provider),
    }
  );
}

/** Who has taken a job. */
export interface TakenTarget extends KeyedCandidate {
  /** The key that it was asked with is not configured any more, by its name or its value: this one may be of an account that does not know the job. */
  readonly isOtherKey: boolean;
}

/** Enough to tell a key from the one before it, and nothing to guess it by. */
const keyHash = ({ apiKey }: KeyedCandidate["credential"]): string =>
  createHash("sha256").update(apiKey).digest("hex").slice(0, 8);

/** Whether the key of that name has another value than the one the job was asked with. */
function isReplaced({ attempts }: Job, credential: KeyedCandidate["credential"]): boolean {
  const asked = attempts.at(-1)?.key_hash;
  return asked !== undefined && asked !== keyHash(credential);
}

/**
 * Who has taken the job, with the key it was asked with (T84), though it was removed since; where the configuration does not
 * have that key any more, with another one of the provider. Undefined where it does not have the provider.
 */
export function takenTarget({ catalog, health }: TaskServices, job: Job): TakenTarget | undefined {
  const { providers, retired = providers } = catalog();
  for (const known of [providers, retired]) {
    const candidate = mediaCandidate({ providers: known }, offerOf(job), job.kind);
    const credential = candidate?.provider.credentials.find(({ id }) => id === job.credential);
    if (candidate && credential)
      return { ...candidate, credential, isOtherKey: isReplaced(job, credential) };
  }
  const candidate = mediaCandidate({ providers }, offerOf(job), job.kind);
  if (candidate === undefined) return undefined;
  const credential = health.credential(candidate.offer, candidate.provider);
  return { ...candidate, credential, isOtherKey: true };
}

/** The largest answer of a vendor that speaks about a job and brings no pictures along. */
export const wordsBytesMax = 1024 * 1024;

/** Asks a provider about a job: that is answered soon and briefly, whatever its timeouts are for the work itself. @throws AskFailure */
export function askAbout(
  services: TaskServices,
  job: Job,
  target: KeyedCandidate,
  request: MediaAsk,
) {
  const { questionMs } = services.timing;
  const limits = {
    firstByteMs: questionMs,
    totalMs: 2 * questionMs,
    bytesMax: wordsBytesMax,
    traceparent: passedOn(job, target),
  };
  return askTarget(services, target, request, limits);
}

/** Sends one request to a target's provider. @throws AskFailure when no answer came. */
export function askTarget(
  services: TaskServices,
  { provider }: KeyedCandidate,
  request: MediaAsk,
  limits: AskLimits = {},
) {
  return ask(mediaPool(services.pools, provider), provider, request, limits);
}

/** A line in the log where a vendor did not do what it was asked for a job. */
export function warnOf(
  { log }: TaskServices,
  job: Job,
  { state, status, message }: { state: string; status?: number; message?: string },
): void {
  const attempt = job.attempts.at(-1);
  if (attempt)
    logFailedAttempt(log, job.id, { ...attempt, status: status ?? null, outcome: state, message });
}

/** The attempts with one more that has just begun. */
export function withAttempt(
  job: Job,
  target: KeyedCandidate,
  nowMs: number,
): readonly TaskAttempt[] {
  const attempt: TaskAttempt = {
    provider: target.provider.id,
    credential: target.credential.id,
    upstream_model: target.offer.upstreamModel,
    started_at: new Date(nowMs).toISOString(),
    key_hash: keyHash(target.credential),
    outcome: "asked",
  };
  return [...job.attempts, attempt];
}

/** The attempts with the outcome of the last one. */
export function withOutcome(
  attempts: readonly TaskAttempt[],
  outcome: string,
  message?: string,
): readonly TaskAttempt[] {
  const last = attempts.at(-1);
  if (!last) return attempts;
  return [
    ...attempts.slice(0, -1),
    { ...last, outcome, ...(message === undefined ? {} : { message }) },
  ];
}
