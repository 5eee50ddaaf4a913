/**
 * What a vendor was asked, read out of its own request shape: enough to decide on an answer, and no more.
 * This is not the gateway's canonical form, on purpose: a fake must not share our bugs.
 */
import { asList, asObject, asText, type Json } from "./json.ts";

/** One message of the history. Results of tools are a turn of their own or part of a user's, as the vendor has it. */
export interface Turn {
  readonly role: "system" | "user" | "assistant";
  readonly text: string;
  readonly images: number;
  /** How many tools an assistant turn called. */
  readonly calls: number;
  /** The texts of the tool results this turn carries. */
  readonly results: readonly string[];
}

export interface Tool {
  readonly name: string;
  /** JSON Schema of the arguments. */
  readonly schema: Json;
}

export interface Question {
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  readonly toolChoice: "auto" | "none" | "required" | { readonly name: string };
  readonly stop: readonly string[];
  readonly maxTokens: number | undefined;
  /** The caller asked the model to think. */
  readonly reasoning: boolean;
  /** The caller asked for JSON, maybe of this schema. */
  readonly json: { readonly schema?: Json } | undefined;
}

/** The texts of some parts, a line each. */
export const textOf = (parts: readonly Json[]): string =>
  parts
    .map((part) => asText(part["text"]))
    .filter(Boolean)
    .join("\n");

/** Content that is a text or a list of parts. `imageType` is what the vendor's endpoint calls a picture. */
export function readContent(content: unknown, imageType: string): { text: string; images: number } {
  if (typeof content === "string") return { text: content, images: 0 };
  const parts = asList(content).map(asObject);
  return {
    text: textOf(parts),
    images: parts.filter((part) => part["type"] === imageType).length,
  };
}

/** Where the question now open starts: the last user turn with words of its own, not one that only returns results. */
export function openQuestionStart(turns: readonly Turn[]): number {
  const start = turns.findLastIndex(
    (turn) =>
      turn.role === "user" && turn.text !== "" && turn.results.length === 0 && !showsResults(turn),
  );
  return Math.max(start, 0);
}

/** True for pictures of results where results hold only text: each picture follows a line that names its call. */
const showsResults = ({ text, images }: Turn): boolean =>
  images > 0 && text.split("\n").every((line) => /^Returned by tool call \S+:$/.test(line));

const charactersPerToken = 4;
const tokensPerTurn = 4;
const tokensPerImage = 256;

/** A token count like a vendor's, and the same on every run: four characters a token. */
export function tokensOf(text: string): number {
  return Math.ceil(text.length / charactersPerToken);
}

/** As much of the text as `tokens` may hold, never half a character. */
export function cutToTokens(text: string, tokens: number): string {
  const cut = text.slice(0, Math.max(0, tokens) * charactersPerToken);
  return cut.length < text.length && /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut;
}

/** The input of a question in tokens: its texts, its results, its images and its tools. */
export function inputTokens(question: Question): number {
  let tokens = question.tools.length > 0 ? tokensOf(JSON.stringify(question.tools)) : 0;
  for (const turn of question.turns) {
    tokens += tokensPerTurn + tokensOf(turn.text) + turn.images * tokensPerImage;
    for (const result of turn.results) tokens += tokensOf(result);
  }
  return tokens;
}
