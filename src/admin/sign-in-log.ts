/**
 * What the library for sessions says, in our log: of each kind one line a minute. What strangers cause by bad callbacks is no error of
 * ours or of the identity provider's, and is told apart: it can fill neither the errors, nor their kinds.
 */
import { atIntervals } from "../base/at-intervals.ts";
import { isObject } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import { getOrMake } from "../base/made-once.ts";
import { shortText } from "../base/text.ts";

const everyMs = 60_000;
/** Its texts are fixed but for a few: what is beyond so many kinds shares one line a minute. */
const kindsMax = 20;
const reasonMax = 300;

type Write = (level: string, message: string, ...said: readonly unknown[]) => void;

/** For the library's option `logger.log`. */
export function signInLog(log: Pick<Log, "info" | "warn" | "error">): Write {
  const counters = { info: countersOf(), warn: countersOf(), error: countersOf() };
  return (level, message, ...said) => {
    const [first] = said;
    const as = levelOf(level, message, first);
    const count = counters[as](message);
    if (count === undefined) return;
    const reason = reasonOf(first);
    // Without a text it says that the provider did not take a code.
    const text = message === "" ? "the identity provider refused the code" : message;
    log[as]({ count, ...(reason !== "" && { reason }) }, `sign-in: ${text}`);
  };
}

/** Counts by kind. A call returns how often the kind was met since its last line; undefined within a minute of that. */
function countersOf(): (kind: string) => number | undefined {
  const kinds = new Map<string, () => number | undefined>();
  const rest = atIntervals(everyMs);
  return (kind) =>
    (kinds.size < kindsMax || kinds.has(kind)
      ? getOrMake(kinds, kind, () => atIntervals(everyMs))
      : rest)();
}

/** What anybody causes who calls `/auth` with nonsense, or signs in at the provider and has no account here. */
const ofCallers = /^(?:State not found|signup_disabled|account_not_linked|Invalid \w+: .*)$/;

function levelOf(level: string, message: string, said: unknown): "info" | "warn" | "error" {
  const { code, error } = Object(said) as Record<string, unknown>;
  // A state that is not of this browser's sign-in, or a code that was made up.
  const isStrange =
    message === "Failed to parse state"
      ? typeof code === "string" && code.startsWith("state_")
      : error === "invalid_grant";
  if (isStrange || ofCallers.test(message)) return "info";
  // The callback says so: its caller, or a provider that is another than the configured one.
  if (message === "OAuth issuer mismatch") return "warn";
  return level === "warn" ? "warn" : "error";
}

/** What went wrong, of an error or of an identity provider's refusal: without it nobody knows what to mend. */
function reasonOf(said: unknown): string {
  if (!isObject(said) && !(said instanceof Error)) return "";
  const { status, error, error_description, message } = said as Record<string, unknown>;
  const parts = [status, error, error_description, message];
  const words = parts.filter((part) => typeof part === "string" || typeof part === "number");
  return shortText(words.join(": "), reasonMax);
}
