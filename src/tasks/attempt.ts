/** The parts of one attempt: its target, key and request, and the notes about it. */
import { createHash } from "node:crypto";
import {
  logFailedAttempt,
  mediaCandidate,
  mediaPool,
  type KeyedCandidate,
  type ProviderAttempts,
} from "../attempts/index.ts";
import { polledProviders, type Credential, type Provider } from "../catalog/index.ts";
import { ask, type AskLimits, type MediaAsk } from "../upstream/index.ts";
import type { TaskServices } from "./engine.ts";
import type { Job, PlannedOffer } from "./rows.ts";
import { traceparentFor } from "./trace.ts";
import type { TaskAttempt } from "./types.ts";

/** The offer of the current attempt: the offers in order, then from the first again. */
export const offerOf = (job: Job): PlannedOffer => job.offers[job.attempt % job.offers.length]!;

/** The target of the next attempt; undefined if the configuration no longer has it. */
export function nextTarget(
  { catalog, health }: TaskServices,
  job: Job,
): KeyedCandidate | undefined {
  const candidate = mediaCandidate(catalog(), offerOf(job), job.kind);
  if (candidate === undefined) return undefined;
  const { offer, provider } = candidate;
  const { count, asked } = triesAt(job, provider);
  // Once each credential had its turn, later rounds choose by weight again.
  const excepted = count < provider.credentials.length ? asked : undefined;
  return { ...candidate, credential: health.credential(offer, provider, undefined, excepted) };
}

/** The submissions of the job to this provider so far. */
export function triesAt({ attempts }: Pick<Job, "attempts">, { id }: Provider): ProviderAttempts {
  const here = attempts.filter(({ provider }) => provider === id);
  return { count: here.length, asked: new Set(here.map(({ credential }) => credential)) };
}

/** The target that has taken a job. */
export interface TakenTarget extends KeyedCandidate {
  /**
   * True if the submission's key is no longer configured, by name or value, or its provider has another address or dialect. The account
   * that is asked may not have the job.
   */
  readonly isOtherKey: boolean;
}

/** A hash that is long enough to tell a text from the one before it, and too short to guess it by. */
const shortHash = (text: string): string =>
  createHash("sha256").update(text).digest("hex").slice(0, 8);

/** The hash of what leads to an account at a vendor: the key, and where it is sent. The sandbox has another port after each start. */
function accountHash({ dialect, baseUrl }: Provider, { apiKey }: Credential): string {
  const { hostname, pathname } = new URL(baseUrl);
  return shortHash(`${dialect} ${hostname}${pathname} ${apiKey}`);
}

/** True if the key of that name, or the address or dialect of its provider, is another one than at the submission. */
function isReplaced({ attempts }: Job, provider: Provider, credential: Credential): boolean {
  const asked = attempts.at(-1)?.key_hash;
  // Older versions stored the hash of the key alone.
  const known = [undefined, accountHash(provider, credential), shortHash(credential.apiKey)];
  return !known.includes(asked);
}

/**
 * The provider that has taken the job, even if removed since, with the key of the submission (T84). If that key is no longer
 * configured, another key of the provider. Undefined if the provider is not configured either, or by now has a dialect without jobs.
 */
export function takenTarget({ catalog, health }: TaskServices, job: Job): TakenTarget | undefined {
  const all = polledProviders(catalog());
  const [providers] = all;
  const candidateIn = (known: typeof providers) => {
    const candidate = mediaCandidate({ providers: known }, offerOf(job), job.kind);
    return candidate?.dialect.synchronous === true ? undefined : candidate;
  };
  for (const known of all) {
    const candidate = candidateIn(known);
    const credential = candidate?.provider.credentials.find(({ id }) => id === job.credential);
    if (candidate && credential)
      return {
        ...candidate,
        credential,
        isOtherKey: isReplaced(job, candidate.provider, credential),
      };
  }
  const candidate = candidateIn(providers);
  if (candidate === undefined) return undefined;
  const credential = health.credential(candidate.offer, candidate.provider);
  return { ...candidate, credential, isOtherKey: true };
}

/** The largest answer about a job that contains no pictures, in bytes. */
export const wordsBytesMax = 1024 * 1024;

/** Asks a provider about a job, with short timeouts: such answers are quick and small. @throws AskFailure */
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
    traceparent: traceparentFor(job, target),
  };
  return askTarget(services, target, request, limits);
}

/** Sends one request to a target's provider. @throws AskFailure if no answer came. */
export function askTarget(
  services: TaskServices,
  { provider }: KeyedCandidate,
  request: MediaAsk,
  limits: AskLimits = {},
) {
  return ask(mediaPool(services.pools, provider), provider, request, limits);
}

/** Logs that a vendor did not do what it was asked for a job. */
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
    key_hash: accountHash(target.provider, target.credential),
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
