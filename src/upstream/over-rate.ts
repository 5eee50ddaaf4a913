/**
 * Detects refusals of a request that is larger than the account's tokens per minute: 429 at OpenAI, 413 at Groq. Waiting does not help, but
 * smaller requests are still answered. Another account or provider may accept it. docs/routing.md.
 */

/** Anchored, because a message may quote a prompt. */
const messagePattern =
  /^request too large for .{1,300}? on .{0,40}?tokens per (?:min|minute|day)\b/i;

/** True if a vendor's message says that the request is larger than the account's rate. */
export const isOverRate = (message: string): boolean => messagePattern.test(message);

/** The messages name the operator's organization and tier, and advertise higher limits. */
const account = / in organization `?[\w-]{1,100}`?(?: service tier `?[\w-]{1,40}`?)?/gi;
const advice = / (?:Visit|Need more tokens\?) .*$/is;

/** Returns such a message without the operator's data and the advice; any other message unchanged. */
export const overRateWords = (message: string): string =>
  isOverRate(message) ? message.replace(account, "").replace(advice, "").trim() : message;
