/** What the library for sessions says, as our warnings: of each kind one a minute, because strangers cause them by bad callbacks. */
import { atIntervals } from "../base/at-intervals.ts";
import { isObject } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import { shortText } from "../base/text.ts";

const everyMs = 60_000;
/** Its texts are fixed but for a few: what is beyond so many kinds shares one line a minute. */
const kindsMax = 20;
const reasonMax = 300;

type Write = (level: string, message: string, ...said: readonly unknown[]) => void;

/** For the library's option `logger.log`. */
export function signInLog(log: Pick<Log, "warn">): Write {
  const kinds = new Map<string, () => number | undefined>();
  const rest = atIntervals(everyMs);
  const counterOf = (message: string): (() => number | undefined) => {
    let counter = kinds.get(message);
    if (counter === undefined) {
      if (kinds.size >= kindsMax) return rest;
      counter = atIntervals(everyMs);
      kinds.set(message, counter);
    }
    return counter;
  };
  return (level, message, ...said) => {
    const count = counterOf(message)();
    if (count === undefined) return;
    const reason = reasonOf(said[0]);
    log.warn({ level, count, ...(reason !== "" && { reason }) }, `sign-in: ${message}`);
  };
}

/** What went wrong, of an error or of an identity provider's refusal: without it nobody knows what to mend. */
function reasonOf(said: unknown): string {
  if (!isObject(said) && !(said instanceof Error)) return "";
  const { status, error, error_description, message } = said as Record<string, unknown>;
  const parts = [status, error, error_description, message];
  const words = parts.filter((part) => typeof part === "string" || typeof part === "number");
  return shortText(words.join(": "), reasonMax);
}
