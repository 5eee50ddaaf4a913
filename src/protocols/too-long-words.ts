/**
 * The words of a refusal of a too long prompt. Many coding agents shorten the conversation only if they read the words of their protocol's
 * own vendor; some (Crush, Zed) also need its numbers. docs/errors.md `context_length_exceeded`.
 */
import type { GatewayError } from "../base/errors.ts";

/** The words of a protocol's vendor. */
interface Words {
  /** Matches messages that clients know as they are. */
  readonly known: RegExp;
  /** Said before all others. */
  readonly bare: string;
  readonly counted: (asked: string, most: string) => string;
}

/** Cline and Roo Code look for "context length", LiteLLM (Aider, OpenHands) for "this model's maximum context length is". */
export const openAiWords: Words = {
  known: /\bmaximum context length\b|\bexceeds the context window\b/i,
  bare: "This model's maximum context length is exceeded",
  counted: (asked, most) =>
    `This model's maximum context length is ${most} tokens. However, you requested ${asked} tokens`,
};

export const anthropicWords: Words = {
  known: /prompt is too long/,
  bare: "prompt is too long",
  counted: (asked, most) => `prompt is too long: ${asked} tokens > ${most} maximum`,
};

export const googleWords: Words = {
  known: /exceeds the maximum number of tokens/,
  bare: "exceeds the maximum number of tokens",
  counted: (asked, most) =>
    `The input token count (${asked}) exceeds the maximum number of tokens allowed (${most})`,
};

/** Returns the message of an error, for a too long prompt with `words` before the upstream's own. */
export function messageInWords(
  { code, message }: Pick<GatewayError, "code" | "message">,
  { known, bare, counted }: Words,
): string {
  if (code !== "context_length_exceeded" || known.test(message)) return message;
  const counts = countsIn(message);
  return `${counts ? counted(...counts) : bare}: ${message}`;
}

/** Returns the tokens that were sent and the most that are possible, if the message has just two such numbers. */
function countsIn(message: string): [asked: string, most: string] | undefined {
  const [one, other, ...others] = message.match(/(?<![\d.,])\d{3,9}(?!\d|[.,]\d)/g) ?? [];
  if (one === undefined || other === undefined || others.length > 0) return undefined;
  if (Number(one) === Number(other)) return undefined;
  return Number(one) > Number(other) ? [one, other] : [other, one];
}
