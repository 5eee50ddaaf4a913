/**
 * Claude Code's line about whom Anthropic bills, at the start of its system prompt. Other vendors' models are not to read it, nor
 * cache by it: part of it differs from call to call. Trap T36.
 */
const line = /^x-anthropic-billing-header:[^\n]*\n*/;

/** A system text without the line; undefined where it does not begin with it. */
export const withoutBillingLine = (text: string): string | undefined =>
  line.test(text) ? text.replace(line, "") : undefined;

/** What is said of it. */
export const billingDetail = "its x-anthropic-billing-header is for that vendor only, left out";
