/**
 * Refusals of a request that is larger than the account's tokens a minute: OpenAI says so with 429, Groq with 413. Waiting does not help,
 * and smaller requests are answered as before. Another account, or another provider, may take it. docs/routing.md.
 */

/** Anchored, because a message may quote a prompt. */
const said = /^request too large for .{1,300}? on .{0,40}?tokens per (?:min|minute|day)\b/i;

/** Whether a vendor's message says that a request is larger than the account's rate. */
export const isOverRate = (message: string): boolean => said.test(message);

/** They name the operator's organization and its tier, and say where to buy more. */
const account = / in organization `?[\w-]{1,100}`?(?: service tier `?[\w-]{1,40}`?)?/gi;
const advice = / (?:Visit|Need more tokens\?) .*$/is;

/** Such a message as its caller may read it; any other as it is. */
export const overRateWords = (message: string): string =>
  isOverRate(message) ? message.replace(account, "").replace(advice, "").trim() : message;
