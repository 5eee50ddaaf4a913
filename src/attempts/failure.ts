/**
 * The reason why an attempt gave no answer, and the consequences: for the next attempt, health, the records and the caller. Upstream's
 * outcome table says how each status or failure of a vendor is read; docs/routing.md.
 */
import { GatewayError, toGatewayError } from "../base/errors.ts";
import type { Unanswered } from "../routing/index.ts";
import {
  BadAnswerError,
  ExchangeError,
  outcomeOfFailure,
  retryAfterSecondsDefault,
} from "../upstream/index.ts";

export interface Failure {
  /** The caller's error if no other attempt follows. */
  readonly error: GatewayError;
  /** A status code or a word: for the records, and to tell `error` in the way that its vendor did. */
  readonly outcome: string;
  /** For the records: the vendor's own words, or our reason. */
  readonly message?: string | undefined;
  /** Failover is allowed: this provider failed, and certainly began nothing that costs money. */
  readonly allowsFailover?: boolean;
  /** The same provider may be retried once, after a pause. */
  readonly retrySame?: boolean;
  /** The same provider may answer without the earlier reasoning of another vendor or account. */
  readonly refusesProof?: boolean | undefined;
  /** The shortest wait, in seconds, that this attempt or an earlier one asks for. Undefined for the only attempt. */
  readonly soonestSeconds?: number | undefined;
  /** The consequence for the health of the provider or its credential. Absent: none. */
  readonly health?: Unanswered | undefined;
  /** The body of the caller's error, if the vendor's own is passed on. */
  readonly body?: object | undefined;
}

/** The outcome of an answer that cannot be used, or is an error in spite of its good status. */
export const badAnswer = "bad_answer";

/** The request itself was refused: it says nothing about the provider. */
export const callersFault: Unanswered = { hurtsHealth: false, fault: "caller" };

/** An attempt without an answer. */
export class AttemptFailure extends Error {
  override name = "AttemptFailure";
  readonly failure: Failure;

  constructor(failure: Failure, cause: unknown = failure.error) {
    super(failure.error.message, { cause });
    this.failure = failure;
  }
}

/**
 * Converts an error that an attempt threw. If our error has a provider's failure as its cause, the answer had begun. Then the failure
 * counts for health, and there is no failover. Other errors are not the provider's.
 */
export function failureOf(thrown: unknown): AttemptFailure {
  if (thrown instanceof AttemptFailure) return thrown;
  const ours = thrown instanceof GatewayError ? thrown : undefined;
  const cause = ours ? ours.cause : thrown;
  if (!(cause instanceof ExchangeError || cause instanceof BadAnswerError)) {
    const error = toGatewayError(thrown);
    const { message } = cause instanceof Error ? cause : error;
    const health = error.status < 500 ? callersFault : undefined;
    return new AttemptFailure({ error, outcome: error.code, message, health }, thrown);
  }
  const health = outcomeOfFailure(cause);
  return new AttemptFailure({
    error: ours ?? health.error,
    outcome: cause instanceof ExchangeError ? cause.failure : badAnswer,
    message: cause.message,
    allowsFailover: ours === undefined && health.fault === "provider",
    retrySame: health.retrySame,
    refusesProof: health.refusesProof,
    health,
  });
}

/** Seconds after which the provider of a failed attempt may answer; Infinity if waiting does not help. */
function waitSecondsOf({ error, retrySame, soonestSeconds = Infinity }: Failure): number {
  const own = error.retryAfterSeconds ?? (retrySame ? retryAfterSecondsDefault : Infinity);
  return Math.min(own, soonestSeconds);
}

/** True if the request does not fit the candidate's context. */
const isTooLong = ({ failure: { error } }: AttemptFailure): boolean =>
  error.code === "context_length_exceeded";

/**
 * Allows failover if the request is too long for a candidate whose context is shorter than that of others. If the others are left out
 * (`isLongerLeftOut`), the caller may retry later. The answer of `failed` had not begun.
 */
export function withFailover(failed: AttemptFailure, isLongerLeftOut: boolean): AttemptFailure {
  if (!isTooLong(failed)) return failed;
  const later = isLongerLeftOut && { error: noneAvailable(), body: undefined };
  return new AttemptFailure({ ...failed.failure, allowsFailover: true, ...later }, failed.cause);
}

/** The error of a call that no provider can serve now. */
export const noneAvailable = (): GatewayError =>
  new GatewayError("no_provider_available", "No provider of this model is available now.", {
    retryAfterSeconds: retryAfterSecondsDefault,
  });

/** True if the request was too long for this candidate only. */
export const isTooLongForCandidate = (failed: AttemptFailure): boolean =>
  failed.failure.allowsFailover === true && isTooLong(failed);

/** True if one provider refused a request that others may answer. */
const isRefusedByOne = (failed: AttemptFailure): boolean =>
  isTooLongForCandidate(failed) ||
  (failed.failure.allowsFailover === true && failed.failure.error.code === "upstream_rejected");

/**
 * Returns the later of two failures; `earlier` is undefined for the first one. Its retry time is the shorter of both: the caller need not
 * wait an hour for one provider if another one is ready in a second. If the later provider refused a request that another one takes, the
 * caller gets the earlier error.
 */
export function laterFailure(
  earlier: AttemptFailure | undefined,
  later: AttemptFailure,
): AttemptFailure {
  if (earlier === undefined) return later;
  const soonestSeconds = Math.min(waitSecondsOf(earlier.failure), waitSecondsOf(later.failure));
  if (isRefusedByOne(later)) {
    const { error: told, outcome, body } = earlier.failure;
    const failure = { ...later.failure, error: told, outcome, body, soonestSeconds };
    return new AttemptFailure(failure, later.cause);
  }
  const { error } = later.failure;
  const told = error.retryAfterSeconds;
  if (told === undefined || told <= soonestSeconds)
    return new AttemptFailure({ ...later.failure, soonestSeconds }, later.cause);
  const { code, message, status, shouldRetry, cause } = error;
  const extra = { status, shouldRetry, cause, retryAfterSeconds: soonestSeconds };
  const sooner = new GatewayError(code, message, extra);
  return new AttemptFailure({ ...later.failure, error: sooner, soonestSeconds }, later.cause);
}
