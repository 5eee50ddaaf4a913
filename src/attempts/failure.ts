/**
 * Why an attempt gave no answer, and what follows: for the next attempt, for health, for the records and for the caller.
 * What a vendor's status or failure means is upstream's outcome table; docs/routing.md.
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
  /** What the caller gets where no other attempt follows. */
  readonly error: GatewayError;
  /** For the records: a status, or a word. */
  readonly outcome: string;
  /** For the records: the vendor's own words, or our reason. */
  readonly message?: string | undefined;
  /** Another provider may be asked: this one failed, and certainly began nothing that costs money. */
  readonly mayGoOn?: boolean;
  /** The same provider may be asked once more, after a pause. */
  readonly retrySame?: boolean;
  /** The least wait that it or an attempt before it asks for, in seconds, where others were made before. */
  readonly soonestSeconds?: number | undefined;
  /** What it says of the provider or its credential. Absent: nothing. */
  readonly health?: Unanswered;
  /** The body of the caller's error, where the vendor's own is passed on. */
  readonly body?: object | undefined;
}

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
 * Reads what an attempt threw. A provider's failure as the cause of an error of ours means that the answer had begun:
 * it counts for health, and nobody else is asked. What else is thrown is not the provider's.
 */
export function failureOf(thrown: unknown): AttemptFailure {
  if (thrown instanceof AttemptFailure) return thrown;
  const ours = thrown instanceof GatewayError ? thrown : undefined;
  const cause = ours ? ours.cause : thrown;
  if (!(cause instanceof ExchangeError || cause instanceof BadAnswerError)) {
    const error = toGatewayError(thrown);
    const { message } = cause instanceof Error ? cause : error;
    return new AttemptFailure({ error, outcome: error.code, message }, thrown);
  }
  const health = outcomeOfFailure(cause);
  return new AttemptFailure({
    error: ours ?? health.error,
    outcome: cause instanceof ExchangeError ? cause.failure : "bad_answer",
    message: cause.message,
    mayGoOn: ours === undefined && health.fault === "provider",
    retrySame: health.retrySame,
    health,
  });
}

/** After how many seconds the provider of a failed attempt may answer; Infinity where waiting does not help. */
function waitSecondsOf({ error, retrySame, soonestSeconds = Infinity }: Failure): number {
  const own = error.retryAfterSeconds ?? (retrySame ? retryAfterSecondsDefault : Infinity);
  return Math.min(own, soonestSeconds);
}

/** A request that does not fit a candidate's context. */
const isTooLong = ({ failure: { error } }: AttemptFailure): boolean =>
  error.code === "context_length_exceeded";

/**
 * A request that is too long for a candidate with a shorter context than others is theirs to answer: now, or where they are out
 * (`isLongerOut`), later. `failed` had no answer that began.
 */
export function goingOn(failed: AttemptFailure, isLongerOut: boolean): AttemptFailure {
  if (!isTooLong(failed)) return failed;
  const later = isLongerOut && { error: noneAvailable(), body: undefined };
  return new AttemptFailure({ ...failed.failure, mayGoOn: true, ...later }, failed.cause);
}

/** The answer to a call that nobody can be asked for now. */
export const noneAvailable = (): GatewayError =>
  new GatewayError("no_provider_available", "No provider of this model is available now.", {
    retryAfterSeconds: retryAfterSecondsDefault,
  });

/** Whether a request was too long for one candidate alone. */
export const isOfShorter = (failed: AttemptFailure): boolean =>
  failed.failure.mayGoOn === true && isTooLong(failed);

/** A refusal by one provider of what others may answer. */
const isOfOne = (failed: AttemptFailure): boolean =>
  isOfShorter(failed) ||
  (failed.failure.mayGoOn === true && failed.failure.error.code === "upstream_rejected");

/**
 * The later one of two failures (`earlier` undefined: the only one), for a caller who may come again as soon as either provider would answer: the hour that one
 * asks for is not to be waited where another one is ready in a second. Where the later one refused what another provider
 * takes, the caller is told of the earlier one.
 */
export function soonerOf(
  earlier: AttemptFailure | undefined,
  later: AttemptFailure,
): AttemptFailure {
  if (earlier === undefined) return later;
  const soonestSeconds = Math.min(waitSecondsOf(earlier.failure), waitSecondsOf(later.failure));
  if (isOfOne(later)) {
    const { error: told, body } = earlier.failure;
    return new AttemptFailure({ ...later.failure, error: told, body, soonestSeconds }, later.cause);
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
