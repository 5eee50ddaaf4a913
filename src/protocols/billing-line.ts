/**
 * Claude Code begins its system prompt with a line for Anthropic's billing. Other vendors' models must not read it, and part of it changes
 * with each call, which would defeat their cache. Trap T36.
 */
const line = /^x-anthropic-billing-header:[^\n]*\n*/;

/** Returns a system text without the line; undefined if the text does not begin with it. */
export const withoutBillingLine = (text: string): string | undefined =>
  line.test(text) ? text.replace(line, "") : undefined;

/** The detail of the note about the removed line. */
export const billingDetail = "its x-anthropic-billing-header is for that vendor only, left out";
