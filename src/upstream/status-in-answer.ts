/**
 * Detects rate limits, overloads, timeouts, refused accounts and refused reasoning of another account that a vendor reports after its answer
 * began with 200. Amazon and Anthropic do so in a stream, OpenAI in a failed response, OpenRouter in a body, another gateway of this kind in
 * all of them. They mean the same as the status would. docs/routing.md.
 */
import { errorCatalogue } from "../base/errors.ts";
import type { WireError } from "../protocols/index.ts";
import { hasSpentAll, isAboutAccount, isTokenRate } from "./account.ts";
import { isForeignProof } from "./foreign-proof.ts";

/** The statuses that say more about a failure than that it happened. */
const telling: ReadonlySet<number> = new Set([402, 429, 503, 504]);

/** Types and codes, in lower case. OpenRouter's and LiteLLM's code is the status. */
const statusByWord: ReadonlyMap<string, number> = new Map([
  ...Object.entries(errorCatalogue).flatMap(([code, { status }]): [string, number][] =>
    telling.has(status) ? [[code, status]] : [],
  ),
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
  ["401", 401],
  ["402", 402],
  ["403", 403],
  ["404", 404],
  ["408", 504],
  ["504", 504],
  ["timeout_error", 504],
]);

/** Returns the status for an error within an answer; undefined if it is about none of these. */
export function statusInAnswer(wire: WireError): number | undefined {
  const { code = "", type = "", message } = wire;
  if (isForeignProof(wire)) return 400;
  if (isTokenRate(message)) return 429;
  if (isAboutAccount(code, message) || hasSpentAll(wire)) return 402;
  return statusByWord.get(code.toLowerCase()) ?? statusByWord.get(type.toLowerCase());
}
