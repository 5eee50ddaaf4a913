/**
 * Detects rate limits, overloads and refused accounts that a vendor reports after its answer began with 200. Amazon and Anthropic do so in
 * a stream, OpenAI in a failed response, OpenRouter in a body. They mean the same as the status would. docs/routing.md.
 */
import type { WireError } from "../protocols/index.ts";
import { hasSpentAll, isAboutAccount, isTokenRate } from "./account.ts";

/** Types and codes, in lower case. OpenRouter's code is the status. */
const statusByWord: ReadonlyMap<string, number> = new Map([
  ["rate_limit_error", 429],
  ["rate_limit_exceeded", 429],
  ["resource_exhausted", 429],
  ["too_many_requests", 429],
  ["429", 429],
  ["overloaded_error", 529],
  ["server_is_overloaded", 503],
  ["unavailable", 503],
  ["503", 503],
  ["529", 529],
  ["billing_error", 402],
  ["402", 402],
]);

/** Returns the status for an error within an answer; undefined if it is about neither load nor account. */
export function statusInAnswer(wire: WireError): number | undefined {
  const { code = "", type = "", message } = wire;
  if (isTokenRate(message)) return 429;
  if (isAboutAccount(code, message) || hasSpentAll(wire)) return 402;
  return statusByWord.get(code.toLowerCase()) ?? statusByWord.get(type.toLowerCase());
}
