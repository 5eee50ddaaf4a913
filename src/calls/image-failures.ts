/**
 * Why an attempt of an image call gave no picture, in words fit for its caller. A provider is left for the next one only where
 * it certainly began nothing: an unknown outcome may cost money and is not repeated (T81). docs/routing.md.
 */
import { AttemptFailure } from "../attempts/index.ts";
import { GatewayError, type ErrorCode } from "../base/errors.ts";
import { errorCodec, type JsonObject } from "../protocols/index.ts";
import {
  outcomeOfFailure,
  outcomeOfRefusal,
  retryAfterSecondsDefault,
  type AskFailure,
  type MediaRefusal,
  type MediaState,
} from "../upstream/index.ts";

/** An ask that came to no answer. A provider that may have heard it is not asked again. */
export function failedAsk(asked: AskFailure): AttemptFailure {
  const health = outcomeOfFailure(asked);
  const parts = { outcome: asked.failure, message: asked.message, health };
  if (health.fault === "gateway") return new AttemptFailure({ ...parts, error: health.error });
  if (!asked.sent) {
    const error = new GatewayError("upstream_error", "The connection to the provider failed.", {
      cause: asked,
    });
    return new AttemptFailure({ ...parts, error, mayGoOn: true, retrySame: true });
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

/** A vendor's answer that holds no picture. The caller's own mistakes reach the caller in the vendor's words. */
export function notMade(answer: Exclude<MediaState, { state: "succeeded" }> | MediaRefusal) {
  if (answer.state === "refused") return refused(answer);
  const job = answer.state === "failed" ? answer : undefined;
  const parts = { outcome: answer.state, message: job?.message };
  if (job?.code === "content_policy_violation" || job?.code === "invalid_argument")
    return new AttemptFailure({ ...parts, error: callersError(job.code, job.message) });
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
  const { code, message, uncertain, retrySame } = outcome;
  const parts = { outcome: String(refusal.status), message: refusal.message, health: outcome };
  if (outcome.fault === "caller") {
    const error = callersError(code, message, refusal.param);
    return new AttemptFailure({ ...parts, error, body: withCode(error, refusal.code) });
  }
  const waitMs = refusal.retryAfterMs ?? retryAfterSecondsDefault * 1000;
  const retryAfterSeconds = Math.min(Math.ceil(waitMs / 1000), retryAfterSecondsMax);
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

/** A result that came and cannot be used. `reason` is a clause fit for the caller. */
export const unusable = (reason: string): AttemptFailure =>
  new AttemptFailure({
    error: new GatewayError(
      "upstream_error",
      `The provider's result cannot be used: ${reason}. Nothing was charged.`,
      { shouldRetry: false },
    ),
    outcome: "bad_answer",
    message: reason,
  });
