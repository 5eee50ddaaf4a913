/**
 * The one outcome table: the meaning of an upstream's answer or failure for the caller, the next attempt and health. docs/routing.md;
 * Requirements: ERR; docs/decisions.md "Client disconnect". Failover happens only before the first byte.
 */
import { GatewayError, overloaded as gatewayOverloaded } from "../base/errors.ts";
import type { WireError } from "../protocols/index.ts";
import { BadAnswerError } from "./bad-answer.ts";
import { FaultError } from "./dial/faults.ts";
import { ExchangeError, type ExchangeFailure } from "./exchange-error.ts";
import { moderationWords } from "./moderation.ts";
import { isOverRate, overRateWords } from "./over-rate.ts";
import { rowOf, type Refusal, type Row } from "./outcome-rows.ts";
import { forbidsRetry, retryAfterMsOf } from "./retry-after.ts";
import { statusInAnswer } from "./status-in-answer.ts";
import { isTooLong, tooLong } from "./too-long.ts";

/** The consequence of a refusal for the attempt's credential. */
interface RefusedCredential {
  /** `credential`: refused for all models. `model`: for this one now, such as a rate limit. */
  readonly of: "credential" | "model";
  /** The pause that the vendor asks for, in ms; absent if it names no time. */
  readonly retryAfterMs?: number | undefined;
  /** True if this gateway could not get the credential: that says nothing of other gateways. */
  readonly isOwn?: boolean | undefined;
}

/** The consequence of an attempt that did not succeed. */
export interface Outcome {
  /**
   * `caller`: the request itself was refused, and every provider would refuse it. `gateway`: the gateway lacks a resource that every
   * attempt needs. `provider`: another provider may answer.
   */
  readonly fault: "caller" | "gateway" | "provider";
  /** True if the same provider may be retried once, after a short pause. */
  readonly retrySame: boolean;
  readonly hurtsHealth: boolean;
  /** The attempt timed out: the caller waited in vain. */
  readonly silent: boolean;
  /** Present if the credential was refused: another one may work. */
  readonly credential?: RefusedCredential | undefined;
  /** True if another account of the same provider may answer; the credential itself is not at fault. */
  readonly otherAccountMayAnswer?: boolean | undefined;
  /** True if the vendor may answer the same request without earlier reasoning of another vendor or account. */
  readonly refusesProof?: boolean | undefined;
  /** The caller's error if this attempt was the last. */
  readonly error: GatewayError;
}

/** The retry time for callers, in seconds, if the provider names none. */
export const retryAfterSecondsDefault = 5;
const retryAfterSecondsMax = 3600;

/**
 * Returns the outcome of an upstream's refusal. Statuses without a row: below 500 the caller's fault, from 500 up the provider's. A date in
 * `Retry-After` is compared with `nowMs`.
 */
export function outcomeOfStatus(refusal: Refusal, nowMs: number): Outcome & Pick<Row, "fault"> {
  const { status, wire, headers } = refusal;
  const row = rowOf(refusal);
  const { fault, retrySame, hurtsHealth, refused, otherAccountMayAnswer, refusesProof } = row;
  const retryAfterMs = retryAfterMsOf(headers, nowMs) ?? retryAfterInBody(wire);
  return {
    fault,
    retrySame: retrySame && !forbidsRetry(headers),
    hurtsHealth,
    silent: false,
    credential: refused && { of: refused, retryAfterMs },
    otherAccountMayAnswer,
    refusesProof,
    error: errorOf(row, status, wire, secondsOf(retryAfterMs)),
  };
}

function retryAfterInBody({ retryAfterSeconds }: WireError): number | undefined {
  return retryAfterSeconds === undefined || !(retryAfterSeconds > 0)
    ? undefined
    : retryAfterSeconds * 1000;
}

function errorOf(
  row: Row,
  status: number,
  wire: WireError,
  retryAfterSeconds: number,
): GatewayError {
  switch (row.code) {
    case "upstream_rejected":
      if (isTooLong(wire)) return tooLong(wire);
      if (isOverRate(wire.message)) return overRate(wire);
      return new GatewayError("upstream_rejected", moderationWords(wire.message), {
        status,
        param: wire.param,
      });
    case "rate_limit_exceeded":
      return new GatewayError(
        "rate_limit_exceeded",
        "Every provider of this model limits its rate now.",
        { retryAfterSeconds },
      );
    case "no_provider_available":
      return new GatewayError(row.code, "Every provider of this model is overloaded now.", {
        retryAfterSeconds,
      });
    case "upstream_timeout":
      return new GatewayError("upstream_timeout", `The provider answered ${status}: it timed out.`);
    case "upstream_error":
      // The provider's text may name the operator's account or key: it goes to the request log, not to the caller.
      return new GatewayError("upstream_error", failedWith(status, row.refused !== undefined));
  }
}

/** Always 413, whatever the vendor's status: 429 would mean that waiting helps. */
const overRate = ({ message, param }: WireError): GatewayError =>
  new GatewayError("upstream_rejected", overRateWords(message), { status: 413, param });

/** The caller's message about a failed provider. A refused key or account of the gateway must not look like the caller's. */
export function failedWith(status: number, isRefused: boolean): string {
  const ours = status === 401 || status === 403 ? "key" : isRefused ? "account" : undefined;
  const refused = ` It refused this gateway's own ${ours}, not yours: whoever runs the gateway sees why.`;
  return `The provider failed with status ${status}.${ours === undefined ? "" : refused}`;
}

/** The vendor's wait for the caller, in seconds, bounded. */
const secondsOf = (retryAfterMs: number | undefined): number =>
  retryAfterMs === undefined
    ? retryAfterSecondsDefault
    : Math.min(Math.ceil(retryAfterMs / 1000), retryAfterSecondsMax);

/** Returns the outcome of a failure without an HTTP status, or of an unusable answer. */
export function outcomeOfFailure(error: unknown): Outcome {
  const failure = error instanceof ExchangeError ? error.failure : "broken";
  if (failure === "shortage") return ourShortage(error);
  if (failure === "upload") return ourStorage(error);
  if (failure === "unauthorized") return noCredential(error);
  const inAnswer = error instanceof BadAnswerError ? outcomeInAnswer(error) : undefined;
  if (inAnswer) return inAnswer;
  const timedOut =
    failure === "first_byte_timeout" || failure === "idle_timeout" || failure === "total_timeout";
  const unusable = reasonUnusable(error);
  return {
    fault: "provider",
    // A vendor that answered has done its work: it is not asked to do it again.
    retrySame: unusable === undefined && isTransient(failure, error),
    // One caller's request that makes a model fail must not take the provider from other callers.
    hurtsHealth: failure !== "aborted" && !(error instanceof BadAnswerError && error.isModels),
    silent: timedOut,
    error: timedOut
      ? new GatewayError("upstream_timeout", "The provider did not answer in time.", {
          cause: error,
        })
      : new GatewayError("upstream_error", unusable ?? "The connection to the provider failed.", {
          cause: error,
        }),
  };
}

/** Returns the outcome of an answer that contains a refusal, or an error with a status of its own; undefined for any other. */
function outcomeInAnswer(error: BadAnswerError): Outcome | undefined {
  const { refusal, othersMayAnswer, errorInAnswer } = error;
  if (refusal) return refusedInAnswer(refusal, othersMayAnswer);
  const status = errorInAnswer && statusInAnswer(errorInAnswer);
  if (!errorInAnswer || !status) return undefined;
  const outcome = outcomeOfStatus({ status, wire: errorInAnswer, headers: {} }, 0);
  // An overloaded vendor that began to answer is not asked again, as after any other failure within an answer.
  return { ...outcome, retrySame: outcome.retrySame && status === 429 };
}

/** True if the failure may be transient. A bad certificate and a name that does not exist are not; a resolver without an answer is. */
const isTransient = (failure: ExchangeFailure, error: unknown): boolean =>
  failure === "connect" || failure === "broken" || failure === "proxy" || hasNoResolver(error);

const hasNoResolver = (error: unknown): boolean =>
  error instanceof ExchangeError &&
  error.cause instanceof FaultError &&
  error.cause.fault.code === "EAI_AGAIN";

/** The caller's message about an unusable answer; undefined if there was none. */
function reasonUnusable(error: unknown): string | undefined {
  if (error instanceof BadAnswerError) return unusableAnswer(error.reason);
  if (!(error instanceof ExchangeError)) return undefined;
  const { failure, message } = error;
  return failure === "unreadable" || failure === "too_large" ? unusableAnswer(message) : undefined;
}

/** The caller's sentence about an unusable answer. */
export const unusableAnswer = (reason: string): string =>
  `The provider's answer cannot be used: ${reason}.`;

/** Says nothing about the provider, and an immediate retry would fail the same way. */
const notAboutProvider = { retrySame: false, hurtsHealth: false, silent: false } as const;

/** The vendor refused the request inside an answer with a good status. */
const refusedInAnswer = (error: GatewayError, othersMayAnswer: boolean): Outcome => ({
  fault: othersMayAnswer ? "provider" : "caller",
  ...notAboutProvider,
  error,
});

/** No token could be obtained: the provider is healthy, and an immediate retry is useless. */
const noCredential = (cause: unknown): Outcome => ({
  fault: "provider",
  ...notAboutProvider,
  credential: { of: "credential", isOwn: true },
  error: new GatewayError("upstream_error", "The gateway has no credential for the provider now.", {
    cause,
  }),
});

/** Every provider would get an incomplete request. */
const ourStorage = (cause: unknown): Outcome => ({
  fault: "gateway",
  ...notAboutProvider,
  error: new GatewayError("internal_error", "The gateway could not read a file of this request.", {
    cause,
  }),
});

/** No connection was made: another attempt would only make the shortage worse. */
const ourShortage = (cause: unknown): Outcome => ({
  fault: "gateway",
  ...notAboutProvider,
  error: gatewayOverloaded("The gateway has no connection to a provider left now.", cause),
});
