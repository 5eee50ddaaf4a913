/**
 * Why a vendor did not take a task, and what may follow. Another provider is asked only if this one
 * certainly began nothing: a submission of unknown outcome is never repeated (T81). docs/tasks.md.
 */
import type { Failure } from "../attempts/index.ts";
import { endedHere } from "../routing/index.ts";
import {
  outcomeOfFailure,
  outcomeOfRefusal,
  unusableAnswer,
  UploadError,
  type AskFailure,
  type MediaRefusal,
  type MediaState,
} from "../upstream/index.ts";
import type { TaskError } from "./types.ts";

/** An attempt that did not start the job. Without `health` the vendor answered as it should. */
export interface NotTaken extends Omit<Failure, "error" | "body"> {
  readonly state: "not_taken";
  /** The status of the vendor's answer, if one came. */
  readonly status?: number;
  /** The task's error if no attempt follows. */
  readonly error: TaskError;
  /** Milliseconds for which the vendor asks to be left alone. */
  readonly retryAfterMs?: number | undefined;
  /**
   * True if no request was sent: the gateway had no free connection, had lost its lease, or could not read a file now. A task
   * can wait, until its own deadline.
   */
  readonly isLocalShortage?: boolean;
}

/** The error of a task if it is unknown whether a vendor has it. */
export function uncertain(unusable?: string): TaskError {
  const why = unusable === undefined ? "" : `${unusableAnswer(unusable)} `;
  const message = `${why}It is not known whether the provider took this task, so it was not sent again. Nothing was charged; submit it anew.`;
  return { code: "submission_uncertain", message };
}

/** No answer came. The vendor may have received the request, unless it was not sent. */
export function unanswered(asked: AskFailure): NotTaken {
  const health = outcomeOfFailure(asked);
  const parts = { state: "not_taken", message: asked.message, health } as const;
  if (asked.failure === "shortage" || (asked.failure === "aborted" && !asked.sent))
    return { ...parts, outcome: endedHere, error: uncertain(), isLocalShortage: true };
  if (asked.failure === "upload" && !asked.sent) return unread(asked, parts);
  if (asked.sent) return { ...parts, outcome: "unknown", error: uncertain() };
  const message = "The connection to the provider failed.";
  const error = { code: "upstream_error", message };
  return { ...parts, outcome: "unsent", error, allowsFailover: true };
}

type Parts = Pick<NotTaken, "state" | "message" | "health">;

/** A file of the gateway could not be read: that may be temporary, unless the file is gone. */
function unread({ cause }: AskFailure, parts: Parts): NotTaken {
  if (!(cause instanceof UploadError && cause.isGone))
    return { ...parts, outcome: endedHere, error: uncertain(), isLocalShortage: true };
  const message = "A file of this task is not there any more. Nothing was charged; submit it anew.";
  return { ...parts, outcome: "upload", error: { code: "upload_unavailable", message } };
}

/** The outcome of an answer without a job. */
export function notTaken(
  answer: Exclude<MediaState, { state: "pending" | "succeeded" }> | MediaRefusal,
): NotTaken {
  if (answer.state === "refused") return refused(answer);
  const { state: outcome } = answer;
  if (answer.state !== "failed") return { state: "not_taken", outcome, error: uncertain() };
  const { code, message } = answer;
  return { state: "not_taken", outcome, message, error: { code, message } };
}

function refused(refusal: MediaRefusal): NotTaken {
  const outcome = outcomeOfRefusal(refusal);
  const { code, message } = outcome;
  return {
    state: "not_taken",
    status: refusal.status,
    outcome: `${refusal.status}`,
    message: refusal.message,
    retryAfterMs: refusal.retryAfterMs,
    health: outcome,
    error: outcome.uncertain ? uncertain(refusal.unusable) : { code, message },
    allowsFailover: outcome.fault === "provider" && !outcome.uncertain,
  };
}
