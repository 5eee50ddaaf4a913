/** The record of an attempt at a provider: in the request log, in tasks, and as a line of the operator's log. */
import type { Log } from "../base/log.ts";
import { shortText } from "../base/text.ts";
import {
  endedHere,
  refusedRequest,
  type Health,
  type HealthAttempt,
  type Unanswered,
} from "../routing/index.ts";
import type { Failure } from "./failure.ts";

/** The provider and model of an attempt, and its outcome. */
export interface AttemptNote {
  readonly provider: string;
  readonly credential: string;
  readonly upstream_model: string;
  /** `ok`, or why it failed: a status, or a word of the outcome table. */
  readonly outcome: string;
  /** The vendor's own message, credentials masked, for the operator. */
  readonly message?: string | undefined;
}

/** An attempt of a call that is answered at once, during and after it. */
export interface Attempt extends AttemptNote {
  /** Milliseconds since the call began. */
  readonly started_ms: number;
  duration_ms: number;
  /** Null if there was no answer. */
  status: number | null;
  outcome: string;
  message?: string;
  /** Present if the request itself was refused: no failure of the provider. */
  fault?: "caller";
}

/** Longer messages of vendors are cut. */
const messageMax = 1_000;
const loggedMax = 300;

/** Records why an attempt failed. */
export function noteFailure(attempt: Attempt, { outcome, message, health }: Failure): void {
  attempt.outcome = outcome;
  if (message !== undefined) attempt.message = shortText(message, messageMax);
  if (health?.fault === "caller") attempt.fault = "caller";
}

/** A failed attempt. `id` is the id of the request or the task, as the caller knows it. */
interface Failed {
  readonly id: string;
  readonly begun: HealthAttempt;
  readonly attempt: AttemptNote & { readonly status?: number | null };
}

/**
 * Reports a failed attempt to health, and to the operator's log, if any. Without `outcome` it does not count against the provider. An
 * attempt that the gateway ended is not logged.
 */
export function reportFailure(
  { health, log }: { readonly health: Health; readonly log: Pick<Log, "warn"> | undefined },
  { id, begun, attempt }: Failed,
  outcome: Unanswered = { hurtsHealth: false },
): void {
  const { message } = attempt;
  const code = outcome.fault === "caller" ? refusedRequest : attempt.outcome;
  health.unanswered(begun, { ...outcome, failure: { code, message } });
  if (log && code !== endedHere) logFailedAttempt(log, id, attempt);
}

/** Logs a warning about a failed attempt. `requestId` is the id of the request or the task, as the caller knows it. */
export function logFailedAttempt(
  log: Pick<Log, "warn">,
  requestId: string,
  attempt: AttemptNote & { readonly status?: number | null },
): void {
  const { provider, credential, upstream_model, status = null, outcome, message } = attempt;
  const reason = shortText(message ?? outcome, loggedMax);
  log.warn(
    { request_id: requestId, provider, credential, upstream_model, status, outcome, reason },
    "an attempt at a provider failed",
  );
}
