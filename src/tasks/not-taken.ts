/**
 * Why a vendor did not take a task that it was asked for, and what may follow. Another provider is asked only where this one
 * certainly began nothing: an outcome that nobody knows is never sent again (T81). docs/tasks.md.
 */
import type { Failure } from "../attempts/index.ts";
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
  /** Of the vendor's answer, if one came. */
  readonly status?: number;
  /** What the task ends with where nothing follows. */
  readonly error: TaskError;
  /** For how long the vendor asks to be left alone. */
  readonly retryAfterMs?: number | undefined;
  /**
   * We had no connection left, no right to ask any more, or a file that cannot be read now, and asked nobody: a task can wait, until
   * its own deadline.
   */
  readonly isShort?: boolean;
}

/** The end of a task of which nobody knows whether a vendor has it. */
export function uncertain(unusable?: string): TaskError {
  const why = unusable === undefined ? "" : `${unusableAnswer(unusable)} `;
  const message = `${why}It is not known whether the provider took this task, so it was not sent again. Nothing was charged; submit it anew.`;
  return { code: "submission_uncertain", message };
}

/** No answer came. The vendor may have got the request all the same, unless it was not sent. */
export function unanswered(asked: AskFailure): NotTaken {
  const health = outcomeOfFailure(asked);
  const parts = { state: "not_taken", message: asked.message, health } as const;
  if (asked.failure === "shortage" || (asked.failure === "aborted" && !asked.sent))
    return { ...parts, outcome: "short", error: uncertain(), isShort: true };
  if (asked.failure === "upload" && !asked.sent) return unread(asked, parts);
  if (asked.sent) return { ...parts, outcome: "unknown", error: uncertain() };
  const message = "The connection to the provider failed.";
  const error = { code: "upstream_error", message };
  return { ...parts, outcome: "unsent", error, mayGoOn: true };
}

type Parts = Pick<NotTaken, "state" | "message" | "health">;

/** A file of ours could not be read: that may pass, unless it is gone. */
function unread({ cause }: AskFailure, parts: Parts): NotTaken {
  if (!(cause instanceof UploadError && cause.isGone))
    return { ...parts, outcome: "short", error: uncertain(), isShort: true };
  const message = "A file of this task is not there any more. Nothing was charged; submit it anew.";
  return { ...parts, outcome: "upload", error: { code: "upload_unavailable", message } };
}

/** An answer that is not the job. */
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
    mayGoOn: outcome.fault === "provider" && !outcome.uncertain,
  };
}
