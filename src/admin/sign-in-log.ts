/**
 * Writes the session library's messages to our log: one line a minute for each kind. Strangers' bad callbacks are not our errors,
 * nor the provider's: they count separately, so they cannot crowd out errors.
 */
import { throttleCounter } from "../base/throttle-counter.ts";
import { isObject } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import { getOrCreate } from "../base/memoize.ts";
import { shortText } from "../base/text.ts";

const everyMs = 60_000;
/** The library has few variable texts; kinds beyond this number share one line a minute. */
const kindsMax = 20;
const reasonMax = 300;

type Write = (level: string, message: string, ...details: readonly unknown[]) => void;

/** Returns the library's option `logger.log`. */
export function signInLog(log: Pick<Log, "info" | "warn" | "error">): Write {
  const counters = { info: countersOf(), warn: countersOf(), error: countersOf() };
  return (level, message, ...details) => {
    const [first] = details;
    const as = levelOf(level, message, first);
    const count = counters[as](message);
    if (count === undefined) return;
    const reason = reasonOf(first);
    // An empty message means that the provider refused a code.
    const text = message === "" ? "the identity provider refused the code" : message;
    log[as]({ count, ...(reason !== "" && { reason }) }, `sign-in: ${text}`);
  };
}

/** Counts messages by kind. A call returns how often the kind occurred since its last line; undefined within a minute of that. */
function countersOf(): (kind: string) => number | undefined {
  const kinds = new Map<string, () => number | undefined>();
  const rest = throttleCounter(everyMs);
  return (kind) =>
    (kinds.size < kindsMax || kinds.has(kind)
      ? getOrCreate(kinds, kind, () => throttleCounter(everyMs))
      : rest)();
}

/** Caused by nonsense calls to `/auth`, or by people of the provider without an account here. */
const ofCallers = /^(?:State not found|signup_disabled|account_not_linked|Invalid \w+: .*)$/;

function levelOf(level: string, message: string, details: unknown): "info" | "warn" | "error" {
  const { code, error } = Object(details) as Record<string, unknown>;
  // The state belongs to another browser's sign-in, or the code is made up.
  const isStrange =
    message === "Failed to parse state"
      ? typeof code === "string" && code.startsWith("state_")
      : error === "invalid_grant";
  if (isStrange || ofCallers.test(message)) return "info";
  // The callback names another issuer: its caller made it up, or the provider is not the configured one.
  if (message === "OAuth issuer mismatch") return "warn";
  return level === "warn" ? "warn" : "error";
}

/** The reason of an error or of the identity provider's refusal, which the operator needs to fix it. */
function reasonOf(details: unknown): string {
  if (!isObject(details) && !(details instanceof Error)) return "";
  const { status, error, error_description, message } = details as Record<string, unknown>;
  const parts = [status, error, error_description, message];
  const words = parts.filter((part) => typeof part === "string" || typeof part === "number");
  return shortText(words.join(": "), reasonMax);
}
