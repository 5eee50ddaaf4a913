/**
 * The meaning of a media vendor's refusal or failed job for the caller, the next attempt and the provider's health. Messages about the
 * operator's account, key or quota are not passed on; those about the request reach the caller. docs/routing.md; the statuses are read by
 * the one table in ../outcome.ts.
 */
import type { WireObject } from "../../base/json.ts";
import type { Provider } from "../../catalog/index.ts";
import { isAboutAccount } from "../account.ts";
import { withoutCredentials } from "../masking.ts";
import { isModerated, moderationWords } from "../moderation.ts";
import { failedWith, outcomeOfStatus, unusableAnswer, type Outcome } from "../outcome.ts";
import { forbidsRetry, retryAfterMsOf } from "../retry-after.ts";
import type { MediaAnswer } from "./ask-handler.ts";
import type { MediaRefusal, MediaState } from "./types.ts";
import { shortIn, textIn } from "./wire.ts";

/** The meaning of a refusal. */
export interface RefusalOutcome extends Pick<
  Outcome,
  "retrySame" | "hurtsHealth" | "credential" | "otherAccountMayAnswer"
> {
  /** `caller`: every provider would refuse the request. `provider`: another one may accept it. */
  readonly fault: "caller" | "provider";
  /**
   * True if the vendor may have accepted the job anyway: a gateway in front of it gave up or says so, or its success could not be read. A
   * request that costs money must not be sent again (T81).
   */
  readonly uncertain: boolean;
  /** `invalid_argument`, `content_policy_violation`, or a code of the error catalogue. */
  readonly code: string;
  readonly message: string;
  /** The caller's status, if the code is `upstream_rejected`: 413 for a request above the account's rate. */
  readonly status?: number | undefined;
}

const contentPolicy =
  /content_?(?:policy|filter)|content-?moderated|moderation|sensitive_?content|data_?inspection|policy_?violation|risk_?(?:control|detection)|ip_?infringement/i;

/** DashScope's words if it could not fetch or read a file for its inspection. The code is then one of the inspection, but nothing was found. */
const notInspected = /\b(?:during|for) the data inspection\b/i;

/** True if the refusal is by moderation: it is about the request, whatever the status, even if it ends a stream that had begun. */
const isAboutContent = (code: string, message: string): boolean =>
  (contentPolicy.test(code) && !notInspected.test(message)) || isModerated(message);

const badArgument =
  /^(invalid|client specified an invalid|missing|bad_?request|unsupported|unknown_parameter)/i;

/** The account may not use this model or endpoint: the operator's configuration is wrong. */
const modelAccessCodes =
  /^(model\.access_?denied|model_?not_?(found|open)|invalid_?endpoint|operation_?denied)/i;

/**
 * The same, but not necessarily the operator's mistake: an account may lack some models. DashScope also says so of a model that it does not
 * serve as a task. The key still serves other models, as with any 403.
 */
const deniedCodes = /^access_?denied/i;

const isAboutOurAccount = (code: string, message: string): boolean =>
  isAboutAccount(code, message) || modelAccessCodes.test(code);

/** Statuses of intermediaries that gave up waiting: the vendor behind them may have accepted the request. */
const uncertainStatuses: ReadonlySet<number> = new Set([408, 499, 502, 504, 520, 522, 524]);

/** Returns the result that a dialect read, with the provider's credentials masked: vendors echo them. */
export function maskAnswer<Read extends MediaState | MediaRefusal>(
  provider: Provider,
  read: Read,
): Read {
  if (read.state !== "refused" && read.state !== "failed") return read;
  const masked = (text: string | undefined) => text && withoutCredentials(provider, text);
  const words = { code: masked(read.code), message: masked(read.message) };
  if (read.state === "failed") return { ...read, ...words };
  return { ...read, ...words, type: masked(read.type), param: masked(read.param) };
}

/** As `maskAnswer`, with what the answer's headers say of another attempt. */
export function maskAnswerWithHeaders<Read extends MediaState | MediaRefusal>(
  provider: Provider,
  state: Read,
  { headers }: Pick<MediaAnswer, "headers">,
  nowMs: number,
): Read {
  const read = maskAnswer(provider, state);
  if (read.state !== "refused") return read;
  const retryAfterMs = retryAfterMsOf(headers, nowMs);
  return { ...read, retryAfterMs, ...(forbidsRetry(headers) && { isFinal: true }) };
}

/** The vendor's word for the error: its code, else its class, where some vendors put what others put in the code. */
export const wordOf = ({ code, type }: MediaRefusal): string | undefined => code ?? type;

/** Returns the meaning of a refusal. */
export function outcomeOfRefusal(refusal: MediaRefusal): RefusalOutcome {
  const { status, message, param, retryAfterMs, unusable, isFinal } = refusal;
  const code = wordOf(refusal) ?? "";
  const uncertain =
    uncertainStatuses.has(status) || status < 400 || (isFinal === true && status >= 500);
  if (isAboutOurAccount(code, message)) {
    const setup = modelAccessCodes.test(code);
    const of = deniedCodes.test(code) ? "model" : "credential";
    return {
      fault: "provider",
      retrySame: false,
      hurtsHealth: setup,
      credential: setup ? undefined : { of, retryAfterMs },
      uncertain,
      code: "upstream_error",
      message: failedWith(status, !setup),
    };
  }
  if (isAboutContent(code, message)) {
    const toCaller = { code: "content_policy_violation", message: moderationWords(message) };
    return { fault: "caller", retrySame: false, hurtsHealth: false, uncertain: false, ...toCaller };
  }
  const { fault, retrySame, hurtsHealth, credential, otherAccountMayAnswer, error } =
    outcomeOfStatus({ status, wire: { message, param, code: wordOf(refusal) }, headers: {} }, 0);
  return {
    fault,
    retrySame: retrySame && !uncertain,
    hurtsHealth,
    credential: credential && { of: credential.of, retryAfterMs },
    otherAccountMayAnswer,
    uncertain,
    status: error.code === "upstream_rejected" ? error.status : undefined,
    code: fault === "caller" ? "invalid_argument" : error.code,
    message: unusable === undefined ? error.message : unusableAnswer(unusable),
  };
}

const messageMax = 2000;
const resultFailed = "The provider failed to make the result.";

/** Returns the state of a job without a result, from the vendor's own `code` and `message`, in words for the caller. */
export function failedJob(wire: WireObject): MediaState {
  const known = textIn(wire["code"]) ?? "";
  const words = shortIn(wire["message"], messageMax);
  if (isAboutOurAccount(known, words ?? ""))
    return { state: "failed", code: "upstream_error", message: resultFailed };
  if (isAboutContent(known, words ?? "")) return blockedJob(words && moderationWords(words));
  if (badArgument.test(known)) {
    const message = words ?? "The provider refused the request's values.";
    return { state: "failed", code: "invalid_argument", message };
  }
  return { state: "failed", code: "upstream_error", message: words ?? resultFailed };
}

/** A job whose result or request was blocked by the vendor's moderation. */
export const blockedJob = (message?: string): MediaState => ({
  state: "failed",
  code: "content_policy_violation",
  message: message ?? "The provider's content moderation blocked the result.",
});

/** xAI's success without a result, if its moderation refused the request: the reason stands beside it. */
export function blockedByReason(wire: WireObject): MediaState | undefined {
  const reason = shortIn(wire["block_reason"] ?? wire["blocked_reason"], messageMax);
  return reason === undefined ? undefined : blockedJob(moderationWords(reason));
}

/** A job that the vendor reports as succeeded, but without a result. */
export const emptyJob: MediaState = {
  state: "failed",
  code: "upstream_error",
  message: "The provider reported success without a result.",
};
