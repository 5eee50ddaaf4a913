/**
 * Attempts of an image call at the planned offers, one after the other. An offer is left for the next only where its vendor
 * surely began nothing and the caller has received nothing: an unknown outcome may cost money and is not repeated (T81).
 * Each attempt is made anew, address, key, headers and files (T75). docs/routing.md.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { GatewayError, type ErrorCode } from "../base/errors.ts";
import { shortText } from "../base/text.ts";
import type { Credential, MediaOffer, Provider } from "../catalog/index.ts";
import { errorCodec, type JsonObject } from "../protocols/index.ts";
import { permits, type Unanswered } from "../routing/index.ts";
import { notesAt, openUpload } from "../tasks/index.ts";
import { routingScope } from "../tenancy/index.ts";
import {
  AskFailure,
  attemptMessageMax,
  logFailedAttempt,
  mediaDialect,
  outcomeOfFailure,
  outcomeOfRefusal,
  type AskLimits,
  type MediaAsk,
  type MediaDialect,
  type MediaJob,
  type MediaRefusal,
  type MediaState,
} from "../upstream/index.ts";
import { countBeyond, expectedBytes } from "./image-bytes.ts";
import type { ImageContext } from "./image-context.ts";
import type { Attempt } from "./record.ts";

/** Who an attempt asks. */
export interface ImageTarget {
  readonly provider: Provider;
  readonly credential: Credential;
  readonly dialect: MediaDialect;
  readonly offer: MediaOffer;
}

interface FailureParts {
  readonly error: GatewayError;
  /** For the request log: a status, or a word. */
  readonly outcome: string;
  /** The vendor's own words, for the operator. */
  readonly told?: string | undefined;
  /** The vendor surely began nothing: another one may be asked. */
  readonly mayGoOn?: boolean;
  /** The same one may be asked once more. */
  readonly retrySame?: boolean;
  /** What it says of the provider. Absent: nothing. */
  readonly health?: Unanswered;
  /** The error's body, where it carries the vendor's own code. */
  readonly body?: object | undefined;
}

/** An attempt that gave no picture. */
export class AttemptFailure extends Error {
  override name = "AttemptFailure";
  readonly parts: FailureParts;

  constructor(parts: FailureParts) {
    super(parts.error.message, { cause: parts.error });
    this.parts = parts;
  }
}

/** Providers, and attempts in all: a provider with several credentials may take more than one. */
const offersMax = 4;
const attemptsMax = 6;
const retryPauseMs = 200;

/** What an attempt at a target does. */
type Work<Answer> = (target: ImageTarget, attempt: Attempt) => Promise<Answer>;
type Tried<Answer> = { readonly answer: Answer } | AttemptFailure;

/**
 * Asks the offers in order until `work` gives an answer, each with another credential where one was refused; a single one
 * that fails in passing is asked once more. Those in trouble are left out, unless nothing else is left.
 * @throws AttemptFailure of the last attempt
 */
export async function attemptInOrder<Answer>(
  context: ImageContext,
  work: Work<Answer>,
): Promise<Answer> {
  const { offers } = context.prepared.plan;
  const isSingle = offers.length === 1;
  const first = isSingle ? undefined : await attemptEach(context, work, "well");
  const tried = first ?? (await attemptEach(context, work, "any"));
  if (tried === undefined) throw notConfigured();
  if (!(tried instanceof AttemptFailure)) return tried.answer;
  const { retrySame = false, health } = tried.parts;
  if (!isSingle || !retrySame || health?.credential?.retryAfterMs !== undefined) throw tried;
  await sleep(retryPauseMs * (0.5 + Math.random()));
  const again = await attemptOnce(context, targetOf(context, offers[0]!), work);
  if (again instanceof AttemptFailure) throw again;
  return again.answer;
}

/** Attempts at those that may be asked: the answer, or how the last one failed; undefined where there was none. */
async function attemptEach<Answer>(
  context: ImageContext,
  work: Work<Answer>,
  which: "well" | "any",
): Promise<Tried<Answer> | undefined> {
  const { health } = context.services;
  let failed: AttemptFailure | undefined;
  let attempts = 0;
  for (const offer of context.prepared.plan.offers.slice(0, offersMax)) {
    if (!mayAttempt(context, offer)) continue;
    const { provider } = targetOf(context, offer);
    if (which === "well" && !health.admit(offer, provider)) continue;
    for (let tries = 1; attempts < attemptsMax; tries += 1) {
      attempts += 1;
      const tried = await attemptOnce(context, targetOf(context, offer), work);
      if (!(tried instanceof AttemptFailure)) return tried;
      failed = tried;
      const isOver = context.gone.aborted || context.record.firstTokenMs !== null;
      if (isOver || failed.parts.mayGoOn !== true) throw failed;
      // The refused credential is left alone now: what is ready is another one.
      const isOther = failed.parts.health?.credential === undefined;
      if (isOther || tries >= provider.credentials.length) break;
      if (!health.hasCredential(offer, provider)) break;
    }
  }
  return failed;
}

/** Whether the caller's scope lets this offer answer, by the configuration of this moment (T74). */
function mayAttempt({ services, call, prepared }: ImageContext, { provider }: MediaOffer): boolean {
  return permits(routingScope(call.caller), services.catalog(), prepared.model, provider);
}

function targetOf({ services }: ImageContext, offer: MediaOffer): ImageTarget {
  const provider = services.catalog().providers.get(offer.provider);
  const dialect = provider && mediaDialect(provider.dialect, "image");
  if (!provider || !dialect) throw notConfigured();
  return { provider, dialect, offer, credential: services.health.credential(offer, provider) };
}

function notConfigured(): AttemptFailure {
  const message = "The provider of this model is not configured any more.";
  const error = new GatewayError("no_provider_available", message, { retryAfterSeconds: 5 });
  return new AttemptFailure({ error, outcome: "not_configured", mayGoOn: true });
}

async function attemptOnce<Answer>(
  { services, record, prepared, call, gone }: ImageContext,
  target: ImageTarget,
  work: Work<Answer>,
): Promise<Tried<Answer>> {
  const started = services.clock.now();
  const { provider, credential, offer } = target;
  const attempt: Attempt = {
    provider: provider.id,
    credential: credential.id,
    upstream_model: offer.upstreamModel,
    started_ms: started - record.startedMs,
    duration_ms: 0,
    status: null,
    outcome: "running",
  };
  const begun = { provider, offer, credential, begunMs: services.health.nowMs() };
  record.attempts.push(attempt);
  record.provider = provider.id;
  record.notes = notesAt(services.catalog(), prepared, offer, call.input.fields);
  try {
    const answer = await work(target, attempt);
    attempt.outcome = "ok";
    const durationMs = services.clock.now() - started;
    const firstTokenMs = durationMs;
    services.health.succeeded(begun, {
      stream: false,
      firstTokenMs,
      durationMs,
      outputTokens: undefined,
    });
    return { answer };
  } catch (error) {
    const known = error instanceof AskFailure ? failedAsk(error) : error;
    const isKnown = known instanceof AttemptFailure;
    attempt.outcome = isKnown ? known.parts.outcome : "internal_error";
    const told = isKnown ? known.parts.told : undefined;
    if (told !== undefined) attempt.message = shortText(told, attemptMessageMax);
    services.health.unanswered(begun, (isKnown && known.parts.health) || { hurtsHealth: false });
    if (!isKnown) throw known;
    return known;
  } finally {
    attempt.duration_ms = services.clock.now() - started;
    if (attempt.outcome !== "ok" && !gone.aborted) logFailedAttempt(services.log, call.id, attempt);
  }
}

/** The job as this target is asked for it. */
export const jobAt = (
  { services, call, request }: ImageContext,
  target: ImageTarget,
): MediaJob => ({
  request,
  upstreamModel: target.offer.upstreamModel,
  id: call.id,
  open: (upload) => openUpload(services.files, upload),
});

/** What an ask at this target takes. A vendor that bills on regardless is read to its end though the client left. */
export function askAt(
  { services, call, gone, request: imageRequest }: ImageContext,
  { provider, credential, dialect }: ImageTarget,
  job: MediaJob,
) {
  const { origin } = new URL(provider.baseUrl);
  const pool = services.pools.forMedia(origin, provider.timeouts.connectMs);
  const request: MediaAsk = dialect.submit(provider, credential.apiKey, job);
  const limits: AskLimits = {
    ...(provider.onDisconnect === "abort" ? { signal: gone } : {}),
    onBytes: countBeyond(call.lease, expectedBytes(imageRequest)),
  };
  return [pool, provider, request, limits] as const;
}

const isUnusable = ({ failure }: AskFailure): boolean =>
  failure === "unreadable" || failure === "too_large";

/** An ask that came to no answer. Whoever may have been heard is not asked again. */
function failedAsk(failure: AskFailure): AttemptFailure {
  if (failure.failure === "shortage")
    return new AttemptFailure({
      outcome: failure.failure,
      told: failure.message,
      error: outcomeOfFailure(failure).error,
    });
  const slow = failure.failure.endsWith("_timeout");
  const health = { hurtsHealth: failure.failure !== "aborted", silent: slow };
  const parts = { outcome: failure.failure, told: failure.message, health };
  if (!failure.sent) {
    const error = new GatewayError("upstream_error", "The connection to the provider failed.", {
      cause: failure,
    });
    return new AttemptFailure({ ...parts, error, mayGoOn: true, retrySame: true });
  }
  const why = slow ? "The provider did not answer in time" : "The provider broke off its answer";
  if (isUnusable(failure)) {
    const error = new GatewayError(
      "upstream_error",
      `${outcomeOfFailure(failure).error.message} It was not asked again. Nothing was charged.`,
      { cause: failure, shouldRetry: false },
    );
    return new AttemptFailure({ ...parts, error });
  }
  const error = new GatewayError(
    slow ? "upstream_timeout" : "upstream_error",
    `${why}; it may have begun, so it was not asked again. Nothing was charged.`,
    { cause: failure, shouldRetry: false },
  );
  return new AttemptFailure({ ...parts, error });
}

/** A vendor's answer that holds no picture. The caller's own mistakes reach the caller in the vendor's words. */
export function notMade(answer: Exclude<MediaState, { state: "succeeded" }> | MediaRefusal) {
  if (answer.state === "refused") return refused(answer);
  const told = answer.state === "failed" ? answer : undefined;
  const parts = { outcome: answer.state, told: told?.message };
  if (told?.code === "content_policy_violation" || told?.code === "invalid_argument")
    return new AttemptFailure({ ...parts, error: callersError(told.code, told.message) });
  const error = new GatewayError(
    "upstream_error",
    "The provider failed to make the picture. Nothing was charged.",
    { shouldRetry: false },
  );
  return new AttemptFailure({ ...parts, error, health: { hurtsHealth: true } });
}

const retryAfterSecondsDefault = 5;
const retryAfterSecondsMax = 3600;

function refused(refusal: MediaRefusal): AttemptFailure {
  const outcome = outcomeOfRefusal(refusal);
  const { code, message, uncertain, retrySame } = outcome;
  const parts = { outcome: String(refusal.status), told: refusal.message, health: outcome };
  if (outcome.blame === "caller") {
    const error = callersError(code, message, refusal.param);
    return new AttemptFailure({ ...parts, error, body: withCode(error, refusal.code) });
  }
  const told = refusal.retryAfterMs ?? retryAfterSecondsDefault * 1000;
  const retryAfterSeconds = Math.min(Math.ceil(told / 1000), retryAfterSecondsMax);
  const error = new GatewayError(code as ErrorCode, message, {
    ...(uncertain ? { shouldRetry: false } : {}),
    ...(code === "rate_limit_exceeded" || code === "no_provider_available"
      ? { retryAfterSeconds }
      : {}),
  });
  return new AttemptFailure({ ...parts, error, retrySame, mayGoOn: !uncertain });
}

const callersError = (code: string, message: string, param?: string): GatewayError =>
  new GatewayError(code === "content_policy_violation" ? code : "upstream_rejected", message, {
    param,
  });

/** The error in its usual shape, under the vendor's own code. */
function withCode(error: GatewayError, code: string | undefined): object | undefined {
  if (code === undefined) return undefined;
  const { error: own } = errorCodec("chat").encodeError(error, "") as { error: JsonObject };
  return { error: { ...own, code } };
}
