/**
 * The usage of a call: the vendor's own count if it reported one, else an estimate marked as such.
 * docs/decisions.md "Client disconnect"; traps T47, T48, T60, T61, T62.
 */
import { noUsage, type Usage } from "../base/usage.ts";
import { estimatedCharactersMax, type StreamSeen } from "../protocols/index.ts";

/** `upstream`: reported by the vendor. `estimated`: counted by the gateway in the text that arrived. */
export type UsageSource = "upstream" | "estimated";

export interface Metered {
  readonly usage: Usage;
  readonly source: UsageSource;
}

/** An output text; or its beginning, its full length, and the pictures and the sound beside it. */
type Output =
  | string
  | (Pick<StreamSeen, "text" | "characters" | "soundCharacters" | "reasoningCharacters"> & {
      readonly pictures?: number;
    });

/** Tokens of one picture, as Google counts it. Other vendors count more or less; without a count it would be free (T56). */
const tokensPerPicture = 1_290;
/** OpenAI counts a token for each 50 ms of its sound, which is streamed as 24,000 samples of 16 bits a second in base64. */
const soundCharactersPerToken = 3_200;

/**
 * Runs of letters, signs, spaces, or line ends and slashes that the tokenizer does not split. Its time grows with the square of their
 * length, to half a second for ten thousand letters.
 */
const longRun = /[\p{L}\p{M}]{33,}|[^\s\p{L}\p{N}]{33,}|\s{33,}|[\r\n/]{33,}/gu;
const runPiece = 32;

type Count = (text: string) => number;

/** Loaded on first use: its tables take a quarter of an idle gateway's memory, and most vendors report usage. */
let tokenizer: Promise<Count> | undefined;

async function loadTokenizer(): Promise<Count> {
  const { countTokens } = await import("gpt-tokenizer");
  const options = { disallowedSpecial: new Set<string>() };
  return (text) => (text === "" ? 0 : countTokens(text, options));
}

/**
 * Counts the tokens of a text with one widely used tokenizer. Long runs without a break are counted in pieces. For a long text only
 * the beginning is counted and scaled up, because counting blocks the process.
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

/** The arrived part of an answer. */
interface Arrived {
  readonly output: Output;
  /** Usage seen so far, if the vendor has not reported input tokens yet: counts beside tokens, such as searches. */
  readonly seen: Usage | undefined;
}

/**
 * The usage of an answer that its vendor continues in the background, and whose usage is never reported to the gateway. It is the
 * reserved amount, because the vendor bills the whole answer.
 */
export async function meterBackground(
  inputTokens: number,
  reservedTokens: number,
  { output, seen }: Arrived = { output: "", seen: undefined },
): Promise<Metered> {
  const outputTokens = Math.max(reservedTokens, await tokensIn(output));
  return { usage: { ...noUsage, ...seen, inputTokens, outputTokens }, source: "estimated" };
}

async function estimate(inputTokens: number, output: Output): Promise<Metered> {
  const usage = await withOutput({ ...noUsage, inputTokens }, output);
  return { usage, source: "estimated" };
}

/** The share of reasoning in an output text, as far as it is told apart. */
function reasoningShare(output: Output): number {
  if (typeof output === "string" || output.characters === 0) return 0;
  return Math.min((output.reasoningCharacters ?? 0) / output.characters, 1);
}

/** Returns the usage with at least the tokens of the output that arrived. */
async function withOutput(usage: Usage, output: Output): Promise<Usage> {
  const { pictures = 0, soundCharacters = 0 } = typeof output === "string" ? {} : output;
  const ofPictures = pictures * tokensPerPicture;
  const ofSound = Math.ceil(soundCharacters / soundCharactersPerToken);
  const ofText = await tokensIn(output);
  const counted = ofText + ofPictures + ofSound;
  const ofReasoning = Math.round(ofText * reasoningShare(output));
  const imageOutputTokens = Math.max(usage.imageOutputTokens ?? 0, ofPictures);
  const audioOutputTokens = Math.max(usage.audioOutputTokens ?? 0, ofSound);
  return {
    ...usage,
    outputTokens: Math.max(usage.outputTokens, counted),
    reasoningTokens: Math.max(usage.reasoningTokens, ofReasoning),
    ...(imageOutputTokens > 0 && { imageOutputTokens }),
    ...(audioOutputTokens > 0 && { audioOutputTokens }),
  };
}

/**
 * True if input tokens were reported. Zero before the end is no count: some vendors send zeros with every frame, and the real numbers
 * with the last one.
 */
export const reportsInput = (reported: Usage | undefined): boolean =>
  reported !== undefined && reported.inputTokens > 0;

/**
 * The usage of an answer that its caller left before the end. It is the usage reported so far, and at least the tokens of the
 * arrived output.
 */
export async function meterPartial(
  reported: Usage | undefined,
  inputEstimate: number,
  output: Output,
): Promise<Metered> {
  const input = reportsInput(reported) ? undefined : { inputTokens: inputEstimate };
  const usage = await withOutput({ ...noUsage, ...reported, ...input }, output);
  return { usage, source: "estimated" };
}

/** Matches members with output text in the answers of the four protocols, up to where the JSON was cut; those of reasoning by their names. */
const textMembers =
  /"(?:(thinking|reasoning_content|reasoning)|content|text|arguments|refusal|transcript)"\s*:\s*"([^"\\]*(?:\\.[^"\\]*)*)/g;

/** The output in the beginning of an answer's JSON; without text if there is none yet. */
export function outputOfCut(json: string) {
  let text = "";
  let reasoningCharacters = 0;
  for (const [, reasoning, escaped = ""] of json.matchAll(textMembers)) {
    const plain = plainText(escaped);
    text += plain;
    if (reasoning !== undefined) reasoningCharacters += plain.length;
  }
  return { text, characters: text.length, reasoningCharacters };
}

function plainText(escaped: string): string {
  try {
    return JSON.parse(`"${escaped}"`) as string;
  } catch {
    // The text was cut in the middle of an escape.
    return escaped;
  }
}
