/**
 * What a call used: the vendor's own count where it reported one, else an estimate that says so.
 * docs/decisions.md "Client disconnect"; traps T47, T48, T60, T61, T62.
 */
import { noUsage, type Usage } from "../base/usage.ts";
import { estimatedCharactersMax, type StreamSeen } from "../protocols/index.ts";

/** `upstream`: the vendor reported it. `estimated`: counted here, in what arrived. */
export type UsageSource = "upstream" | "estimated";

export interface Metered {
  readonly usage: Usage;
  readonly source: UsageSource;
}

/** An output text, or its beginning and how long all of it is. */
type Output = string | Pick<StreamSeen, "text" | "characters">;

/**
 * Runs of letters, signs, spaces, or line ends and slashes that the tokenizer does not split: its time grows with the square of their
 * length, to half a second for ten thousand letters.
 */
const longRun = /[\p{L}\p{M}]{33,}|[^\s\p{L}\p{N}]{33,}|\s{33,}|[\r\n/]{33,}/gu;
const runPiece = 32;

type Count = (text: string) => number;

/** Its tables take a quarter of what an idle gateway needs, and most vendors tell their usage: it is loaded when it is first needed. */
let tokenizer: Promise<Count> | undefined;

async function loadTokenizer(): Promise<Count> {
  const { countTokens } = await import("gpt-tokenizer");
  const options = { disallowedSpecial: new Set<string>() };
  return (text) => (text === "" ? 0 : countTokens(text, options));
}

/**
 * The tokens of a text, as one widely used tokenizer counts them; long runs without a break are counted in pieces. Of a long text the
 * beginning is counted, because counting blocks the process.
 */
export async function tokensIn(output: Output): Promise<number> {
  const { text, characters } =
    typeof output === "string" ? { text: output, characters: output.length } : output;
  if (characters === 0) return 0;
  const count = await (tokenizer ??= loadTokenizer());
  const share = characters / estimatedCharactersMax;
  return share > 1
    ? Math.ceil(countIn(text.slice(0, estimatedCharactersMax), count) * share)
    : countIn(text, count);
}

function countIn(text: string, count: Count): number {
  let tokens = 0;
  let from = 0;
  for (const { index, 0: run } of text.matchAll(longRun)) {
    tokens += count(text.slice(from, index));
    for (let at = 0; at < run.length; at += runPiece) tokens += count(run.slice(at, at + runPiece));
    from = index + run.length;
  }
  return tokens + count(text.slice(from));
}

/** The usage of a complete answer. */
export function meterWhole(
  reported: Usage | undefined,
  inputEstimate: number,
  output: () => Output,
): Metered | Promise<Metered> {
  return reported ? { usage: reported, source: "upstream" } : estimate(inputEstimate, output());
}

/** What had arrived of an answer. */
interface Arrived {
  readonly output: Output;
  /** Where its vendor had told no input yet: what was seen beside tokens, such as searches. */
  readonly seen: Usage | undefined;
}

/**
 * The usage of an answer that its vendor still works at, and will tell nobody here: what was reserved for it. What it comes to is
 * billed by the vendor all the same.
 */
export async function meterUnderWay(
  inputTokens: number,
  reservedTokens: number,
  { output, seen }: Arrived = { output: "", seen: undefined },
): Promise<Metered> {
  const outputTokens = Math.max(reservedTokens, await tokensIn(output));
  return { usage: { ...noUsage, ...seen, inputTokens, outputTokens }, source: "estimated" };
}

async function estimate(inputTokens: number, output: Output): Promise<Metered> {
  const outputTokens = await tokensIn(output);
  return { usage: { ...noUsage, inputTokens, outputTokens }, source: "estimated" };
}

/** No input before the end is not a count yet: some vendors tell zeros with every frame, and the true numbers with the last one. */
export const tellsInput = (reported: Usage | undefined): boolean =>
  reported !== undefined && reported.inputTokens > 0;

/**
 * The usage of an answer that its caller left before the end: what the vendor had reported by then,
 * and at least the tokens of the text that had arrived.
 */
export async function meterPartial(
  reported: Usage | undefined,
  inputEstimate: number,
  output: Output,
): Promise<Metered> {
  const input = tellsInput(reported) ? undefined : { inputTokens: inputEstimate };
  const usage = { ...noUsage, ...reported, ...input };
  return {
    usage: { ...usage, outputTokens: Math.max(usage.outputTokens, await tokensIn(output)) },
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
