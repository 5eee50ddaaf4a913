/** The one line in the log of an attempt at a provider that failed, whatever kind of call it was made for. */
import type { Log } from "../base/log.ts";
import { shortText } from "../base/text.ts";

/** A failed attempt, as the request log has it too. */
export interface FailedAttempt {
  readonly provider: string;
  readonly credential: string;
  readonly upstream_model: string;
  /** Absent or null where no answer came. */
  readonly status?: number | null | undefined;
  /** What went wrong in the words of the outcome table. */
  readonly outcome: string;
  /** The reason, credentials masked. */
  readonly message?: string | undefined;
}

/** Of what a vendor says, at most so many characters are kept. */
export const attemptMessageMax = 1_000;
const loggedMax = 300;

/** Warns of an attempt that failed. `requestId` is of the request or the task, as its caller knows it. */
export function logFailedAttempt(
  log: Pick<Log, "warn">,
  requestId: string,
  attempt: FailedAttempt,
): void {
  const { provider, credential, upstream_model, status = null, outcome, message } = attempt;
  const reason = shortText(message ?? outcome, loggedMax);
  log.warn(
    { request_id: requestId, provider, credential, upstream_model, status, outcome, reason },
    "an attempt at a provider failed",
  );
}
