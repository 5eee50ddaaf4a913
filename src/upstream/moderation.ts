/**
 * Refusals by a vendor's moderation that neither status nor code tells. They are about the request: key and provider are well.
 * xAI refuses a prompt with 403 and a made video with 400; OpenRouter refuses a flagged prompt with 403. docs/routing.md.
 */

/** Anchored, because a message may quote a prompt. */
const refused = [
  /^content violates usage guidelines\b/i,
  /^generated (?:image|video)s? rejected by content moderation\b/i,
  /^\S{1,200} requires moderation on .{1,80}?\. your input was flagged\b/i,
];

/** Whether a vendor's message says that its moderation refused the request, or what was made of it. */
export const isModerated = (message: string): boolean =>
  refused.some((pattern) => pattern.test(message));

/** xAI names the team and the key that asked, which are the operator's. */
const account = /\b(?:team|api key id): [^\s,]{1,100}(?:, ?)?/gi;

/** Such a message as its caller may read it; any other as it is. */
export const moderationWords = (message: string): string =>
  isModerated(message) ? message.replace(account, "").trim() : message;
