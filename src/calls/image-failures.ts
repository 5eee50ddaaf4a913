/**
 * Explains why an attempt of an image call gave no picture, in words for its caller. Failover follows only if the provider certainly
 * began nothing: an unknown outcome may cost money and is not retried (T81). docs/routing.md.
 */
import { AttemptFailure, badAnswer, callersFault } from "../attempts/index.ts";
import { GatewayError, toGatewayError, type ErrorCode } from "../base/errors.ts";
import { errorCodec, type JsonObject } from "../protocols/index.ts";
import {
  outcomeOfFailure,
  outcomeOfRefusal,
  retryAfterSecondsDefault,
  type AskFailure,
  type MediaRefusal,
  type MediaState,
} from "../upstream/index.ts";

/** The failure of a request without an answer. It is not retried if the provider may have received the request. */
export function failedAsk(asked: AskFailure): AttemptFailure {
  const health = outcomeOfFailure(asked);
  const parts = { outcome: asked.failure, message: asked.message, health };
  if (health.fault === "gateway") return new AttemptFailure({ ...parts, error: health.error });
  if (!asked.sent) {
    const error = new GatewayError("upstream_error", "The connection to the provider failed.", {
      cause: asked,
    });
    const { retrySame } = health;
    return new AttemptFailure({ ...parts, error, allowsFailover: true, retrySame });
  }
  const error = new GatewayError(health.error.code, `${whyNotAgain(asked)} Nothing was charged.`, {
    cause: asked,
    shouldRetry: false,
  });
  return new AttemptFailure({ ...parts, error });
}

function whyNotAgain(asked: AskFailure): string {
  const { silent, error } = outcomeOfFailure(asked);
  if (asked.failure === "unreadable" || asked.failure === "too_large")
    return `${error.message} It was not asked again.`;
  const why = silent ? "The provider did not answer in time" : "The provider broke off its answer";
  return `${why}; it may have begun, so it was not asked again.`;
}

/** The failure for an answer without a picture. For the caller's own mistakes, the caller gets the vendor's message. */
export function notMade(answer: Exclude<MediaState, { state: "succeeded" }> | MediaRefusal) {
  if (answer.state === "refused") return refused(answer);
  const job = answer.state === "failed" ? answer : undefined;
  const parts = { outcome: answer.state, message: job?.message };
  if (job?.code === "content_policy_violation" || job?.code === "invalid_argument")
    return new AttemptFailure({
      ...parts,
      error: callersError(job.code, job.message),
      health: callersFault,
    });
  const error = new GatewayError(
    "upstream_error",
    "The provider failed to make the picture. Nothing was charged.",
    { shouldRetry: false },
  );
  return new AttemptFailure({ ...parts, error, health: { hurtsHealth: true } });
}

const retryAfterSecondsMax = 3600;

function refused(refusal: MediaRefusal): AttemptFailure {
  const outcome = outcomeOfRefusal(refusal);
  const { code, message, status, uncertain, retrySame } = outcome;
  const parts = { outcome: String(refusal.status), message: refusal.message, health: outcome };
  if (outcome.fault === "caller") {
    const error = callersError(code, message, refusal.param);
    return new AttemptFailure({ ...parts, error, body: withCode(error, refusal.code) });
  }
  const waitMs = refusal.retryAfterMs ?? retryAfterSecondsDefault * 1000;
  const retryAfterSeconds = Math.min(Math.ceil(waitMs / 1000), retryAfterSecondsMax);
  const error = new GatewayError(code as ErrorCode, message, {
    status,
    ...(code === "upstream_rejected" ? { param: refusal.param } : {}),
    ...(uncertain ? { shouldRetry: false } : {}),
    ...(code === "rate_limit_exceeded" || code === "no_provider_available"
      ? { retryAfterSeconds }
      : {}),
  });
  return new AttemptFailure({ ...parts, error, retrySame, allowsFailover: !uncertain });
}

const callersError = (code: string, message: string, param?: string): GatewayError =>
  new GatewayError(code === "content_policy_violation" ? code : "upstream_rejected", message, {
    param,
  });

/** The error in its usual shape, with the vendor's own code. */
function withCode(error: GatewayError, code: string | undefined): object | undefined {
  if (code === undefined) return undefined;
  const { error: own } = errorCodec("chat").encodeError(error, "") as { error: JsonObject };
  return { error: { ...own, code } };
}

/** The failure for a result that cannot be used. `reason` is a clause for the caller. */
export const unusable = (reason: string): AttemptFailure =>
  new AttemptFailure({
    error: new GatewayError(
      "upstream_error",
      `The provider's result cannot be used: ${reason}. Nothing was charged.`,
      { shouldRetry: false },
    ),
    outcome: badAnswer,
    message: reason,
  });

/** The error for a picture that was made and could not be stored or charged: its vendor bills it, so SDKs must not repeat the call. */
export function madeInVain(thrown: unknown): GatewayError {
  const { code, message, status, retryAfterSeconds, cause } = toGatewayError(thrown);
  const extra = { status, retryAfterSeconds, cause, shouldRetry: false };
  return new GatewayError(code, message, extra);
}
