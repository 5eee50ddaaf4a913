/**
 * Detects refusals by a vendor's moderation that status and code do not show. They are about the request, not the key or provider. xAI
 * refuses a prompt with 403 and a made video with 400; OpenRouter refuses a flagged prompt with 403, and passes OpenAI's words on without
 * their code. docs/routing.md.
 */

/** Anchored, because a message may quote a prompt. */
const refused = [
  /^content violates usage guidelines\b/i,
  /^generated (?:image|video)s? rejected by content moderation\b/i,
  /^your (?:request was rejected|task failed) (?:as a result of our|by the) safety system\b/i,
  /^\S{1,200} requires moderation on .{1,80}?\. your input was flagged\b/i,
];

/** True if the message says that the vendor's moderation refused the request, or its result. */
export const isModerated = (message: string): boolean =>
  refused.some((pattern) => pattern.test(message));

/** xAI names the operator's team and key. */
const account = /\b(?:team|api key id): [^\s,]{1,100}(?:, ?)?/gi;

/** Returns a moderation message without the operator's data; any other message unchanged. */
export const moderationWords = (message: string): string =>
  isModerated(message) ? message.replace(account, "").trim() : message;
