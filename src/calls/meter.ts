/**
 * What a call used: the vendor's own count where it told one, else an estimate that says so.
 * decisions.md "client disconnect"; traps T47, T48, T60, T61, T62.
 */
import { countTokens } from "gpt-tokenizer";
import { noUsage, type Usage } from "../base/usage.ts";

/** `upstream`: the vendor told it. `estimated`: counted here, in what arrived. */
export type UsageSource = "upstream" | "estimated";

export interface Metered {
  readonly usage: Usage;
  readonly source: UsageSource;
}

/** So many characters of a text are counted; of what is longer the rest is taken to be alike, because counting blocks the process. */
const countedCharactersMax = 20_000;

/**
 * Runs of letters, signs or spaces that the tokenizer does not split: its time grows with the square of their length, to
 * half a second for ten thousand letters.
 */
const longRun = /[\p{L}\p{M}]{33,}|[^\s\p{L}\p{N}]{33,}|\s{33,}/gu;
const runPiece = 32;

/** The tokens of a text, as one widely used tokenizer counts them; long runs without a break are counted in pieces. */
export function tokensIn(text: string): number {
  const share = text.length / countedCharactersMax;
  if (share > 1) return Math.ceil(tokensIn(text.slice(0, countedCharactersMax)) * share);
  let tokens = 0;
  let from = 0;
  for (const { index, 0: run } of text.matchAll(longRun)) {
    tokens += count(text.slice(from, index));
    for (let at = 0; at < run.length; at += runPiece) tokens += count(run.slice(at, at + runPiece));
    from = index + run.length;
  }
  return tokens + count(text.slice(from));
}

const count = (text: string): number =>
  text === "" ? 0 : countTokens(text, { disallowedSpecial: new Set() });

/** The usage of a complete answer. */
export function meterWhole(
  told: Usage | undefined,
  inputEstimate: number,
  text: () => string,
): Metered {
  if (told) return { usage: told, source: "upstream" };
  return {
    usage: { ...noUsage, inputTokens: inputEstimate, outputTokens: tokensIn(text()) },
    source: "estimated",
  };
}

/**
 * The usage of an answer that its caller left before the end: what the vendor had told by then,
 * and at least the tokens of the text that had arrived.
 */
export function meterPartial(
  told: Usage | undefined,
  inputEstimate: number,
  text: string,
): Metered {
  const usage = told ?? { ...noUsage, inputTokens: inputEstimate };
  return {
    usage: { ...usage, outputTokens: Math.max(usage.outputTokens, tokensIn(text)) },
    source: "estimated",
  };
}

/** The members that hold output text in the answers of the four protocols, up to where the JSON was cut. */
const textMembers =
  /"(?:content|text|thinking|reasoning_content|reasoning|arguments|refusal)"\s*:\s*"([^"\\]*(?:\\.[^"\\]*)*)/g;

/** The output text in the beginning of an answer's JSON; empty when there is none yet. */
export function textOfCut(json: string): string {
  let text = "";
  for (const [, escaped = ""] of json.matchAll(textMembers)) text += plainText(escaped);
  return text;
}

function plainText(escaped: string): string {
  try {
    return JSON.parse(`"${escaped}"`) as string;
  } catch {
    // Cut in the middle of an escape.
    return escaped;
  }
}
