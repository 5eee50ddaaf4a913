/**
 * What a media vendor's refusal or failed job means: for the caller, for the next try and for the provider's health.
 * The vendor's words about our own account, key or quota stay with us; those about the request reach the caller.
 * docs/routing.md; the statuses are read by the one table in ../outcome.ts.
 */
import type { WireObject } from "../../base/json.ts";
import type { Provider } from "../../catalog/index.ts";
import { isAboutAccount } from "../account.ts";
import { withoutCredentials } from "../masking.ts";
import { isModerated, moderationWords } from "../moderation.ts";
import { failedWith, outcomeOfStatus, unusableAnswer, type Outcome } from "../outcome.ts";
import { retryAfterMsOf } from "../retry-after.ts";
import type { MediaAnswer } from "./ask-handler.ts";
import type { MediaRefusal, MediaState } from "./types.ts";
import { shortIn, textIn } from "./wire.ts";

/** What a refusal means. */
export interface RefusalOutcome extends Pick<Outcome, "retrySame" | "hurtsHealth" | "credential"> {
  /** `caller`: every provider would refuse the request. `provider`: another one may take it. */
  readonly fault: "caller" | "provider";
  /**
   * True when the vendor may have taken the job all the same (a gateway in front of it gave up, or its success could not
   * be read): a request that costs money must not be sent again (T81).
   */
  readonly uncertain: boolean;
  /** `invalid_argument`, `content_policy_violation`, or a code of the error catalogue. */
  readonly code: string;
  readonly message: string;
}

const contentPolicy =
  /content_?policy|content-?moderated|moderation|sensitive_?content|data_?inspection|policy_?violation|risk_?(?:control|detection)/i;

/** Moderation speaks of the request, whatever the status, also where a stream that had begun is broken off with it. */
const aboutContent = (code: string, message: string): boolean =>
  contentPolicy.test(code) || isModerated(message);

const badArgument =
  /^(invalid|client specified an invalid|missing|bad_?request|unsupported|unknown_parameter)/i;

/** Not the account as a whole, but this model or endpoint of the provider is not ours to call: our configuration. */
const notOurModel =
  /^(model\.access_?denied|model_?not_?(found|open)|invalid_?endpoint|operation_?denied)/i;

const aboutUs = (code: string, message: string): boolean =>
  isAboutAccount(code, message) || notOurModel.test(code);

/** Statuses of intermediaries that gave up waiting: the vendor behind them may have taken the request. */
const uncertainStatuses: ReadonlySet<number> = new Set([408, 499, 502, 504, 520, 522, 524]);

/** What a dialect read of an answer, without the credentials of its provider, which vendors echo. */
export function asReported<Read extends MediaState | MediaRefusal>(
  provider: Provider,
  read: Read,
): Read {
  if (read.state !== "refused" && read.state !== "failed") return read;
  const masked = (text: string | undefined) => text && withoutCredentials(provider, text);
  const words = { code: masked(read.code), message: masked(read.message) };
  return { ...read, ...words, ...(read.state === "refused" && { param: masked(read.param) }) };
}

/** The same, with what the answer's headers say beside it. */
export function asAnswered<Read extends MediaState | MediaRefusal>(
  provider: Provider,
  state: Read,
  { headers }: Pick<MediaAnswer, "headers">,
  nowMs: number,
): Read {
  const read = asReported(provider, state);
  if (read.state !== "refused") return read;
  const retryAfterMs = retryAfterMsOf(headers, nowMs);
  return retryAfterMs === undefined ? read : { ...read, retryAfterMs };
}

/** Reads a refusal. */
export function outcomeOfRefusal(refusal: MediaRefusal): RefusalOutcome {
  const { status, code = "", message, param, retryAfterMs, unusable } = refusal;
  const uncertain = uncertainStatuses.has(status) || status < 400;
  if (aboutUs(code, message)) {
    const setup = notOurModel.test(code);
    return {
      fault: "provider",
      retrySame: false,
      hurtsHealth: setup,
      credential: setup ? undefined : { of: "credential", retryAfterMs },
      uncertain,
      code: "upstream_error",
      message: failedWith(status),
    };
  }
  if (aboutContent(code, message)) {
    const toCaller = { code: "content_policy_violation", message: moderationWords(message) };
    return { fault: "caller", retrySame: false, hurtsHealth: false, uncertain: false, ...toCaller };
  }
  const { fault, retrySame, hurtsHealth, credential, error } = outcomeOfStatus(
    { status, wire: { message, param, code: refusal.code }, headers: {} },
    0,
  );
  return {
    fault,
    retrySame: retrySame && !uncertain,
    hurtsHealth,
    credential: credential && { of: credential.of, retryAfterMs },
    uncertain,
    code: fault === "caller" ? "invalid_argument" : error.code,
    message: unusable === undefined ? error.message : unusableAnswer(unusable),
  };
}

const messageMax = 2000;
const unmade = "The provider failed to make the result.";

/** A job that ended without a result, from the vendor's own `code` and `message`, in words fit for the caller. */
export function failedJob(wire: WireObject): MediaState {
  const known = textIn(wire["code"]) ?? "";
  const words = shortIn(wire["message"], messageMax);
  if (aboutUs(known, words ?? ""))
    return { state: "failed", code: "upstream_error", message: unmade };
  if (aboutContent(known, words ?? "")) return blockedJob(words && moderationWords(words));
  if (badArgument.test(known)) {
    const message = words ?? "The provider refused the request's values.";
    return { state: "failed", code: "invalid_argument", message };
  }
  return { state: "failed", code: "upstream_error", message: words ?? unmade };
}

/** A job whose result or request the vendor's moderation blocked. */
export const blockedJob = (message?: string): MediaState => ({
  state: "failed",
  code: "content_policy_violation",
  message: message ?? "The provider's content moderation blocked the result.",
});

/** A job that is said to have succeeded, and has nothing to show. */
export const emptyJob: MediaState = {
  state: "failed",
  code: "upstream_error",
  message: "The provider reported success without a result.",
};
