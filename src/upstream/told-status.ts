/**
 * A limited rate or a refused account that a vendor tells once its answer has begun with 200: Amazon and Anthropic in a stream,
 * OpenAI of a response that failed, OpenRouter in a body. It means what the status means that it would have had. docs/routing.md.
 */
import type { WireError } from "../protocols/index.ts";
import { isAboutAccount } from "./account.ts";

/** Types and codes, in lower case. OpenRouter's code is the status. */
const statusByWord: ReadonlyMap<string, number> = new Map([
  ["rate_limit_error", 429],
  ["rate_limit_exceeded", 429],
  ["resource_exhausted", 429],
  ["too_many_requests", 429],
  ["429", 429],
  ["billing_error", 402],
  ["402", 402],
]);

/** The status of an error within an answer; undefined where it tells neither of a rate nor of the account. */
export function toldStatus({ code = "", type = "", message }: WireError): number | undefined {
  if (isAboutAccount(code, message)) return 402;
  return statusByWord.get(code.toLowerCase()) ?? statusByWord.get(type.toLowerCase());
}
