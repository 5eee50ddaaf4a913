/** What the model says: decided once from question and script, and rendered by each vendor in its own shape. */
import type { Question, Tool } from "./conversation.ts";
import { cutToTokens, inputTokens, openQuestionStart, tokensOf } from "./conversation.ts";
import type { Json } from "./json.ts";
import { isObject } from "./json.ts";
import { sampleOf } from "./schema-sample.ts";
import type { Script, ScriptedCall, ScriptedUsage } from "./script-fields.ts";

export interface ToolCall {
  readonly name: string;
  readonly arguments: Json;
}

/** `input` holds cache reads and writes, `output` the reasoning. Each vendor subtracts what it counts apart. */
export interface AnswerUsage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly reasoning: number;
}

export interface Answer {
  /** The dated name a vendor answers with, so that its renaming by a gateway can be seen. */
  readonly model: string;
  readonly createdSeconds: number;
  readonly reasoning: string;
  readonly text: string;
  readonly calls: readonly ToolCall[];
  /** stop, length, tool_calls, content_filter, or a word the vendor passes on as it is. */
  readonly finish: string;
  readonly stopSequence: string | undefined;
  /** Undefined when the vendor reports none. */
  readonly usage: AnswerUsage | undefined;
  readonly chunkChars: number;
}

interface Draft {
  readonly reasoning: string;
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly finish: string;
  readonly stopSequence?: string | undefined;
}

const chunkCharsUsual = 24;
const echoWords = 12;

const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`;

function defaultText(question: Question): string {
  const open = question.turns.slice(openQuestionStart(question.turns));
  const images = question.turns.reduce((sum, turn) => sum + turn.images, 0);
  const results = open.flatMap((turn) => turn.results);
  const words = (open[0]?.role === "user" ? open[0].text : "").split(/\s+/).filter(Boolean);
  const sentences = ["This is the sandbox."];
  if (images > 0) sentences.push(`I see ${plural(images, "image")}.`);
  if (results.length > 0) sentences.push(`The tool answered: ${results.join("; ")}`);
  else if (words.length > 0) {
    const more = words.length > echoWords ? " ..." : "";
    sentences.push(`You said: ${words.slice(0, echoWords).join(" ")}${more}`);
  }
  return sentences.join(" ");
}

/** The tool an unscripted model calls: the forced one, else the first, and none once results are in. */
function toolToCall(question: Question): Tool | undefined {
  const { toolChoice, tools, turns } = question;
  if (toolChoice === "none") return undefined;
  if (typeof toolChoice === "object") return tools.find((tool) => tool.name === toolChoice.name);
  const answered = turns.slice(openQuestionStart(turns)).some((turn) => turn.results.length > 0);
  return answered && toolChoice !== "required" ? undefined : tools[0];
}

function sampleArguments(schema: Json): Json {
  const sample = sampleOf(schema);
  return isObject(sample) ? sample : {};
}

function unscripted(question: Question): Draft {
  const reasoning = question.reasoning ? "The sandbox thinks before it answers." : "";
  const tool = toolToCall(question);
  if (tool) {
    const calls = [{ name: tool.name, arguments: sampleArguments(tool.schema) }];
    return { reasoning, text: "", calls, finish: "tool_calls" };
  }
  const spoken = defaultText(question);
  const text = question.json
    ? JSON.stringify(question.json.schema ? sampleOf(question.json.schema) : { answer: spoken })
    : spoken;
  return { reasoning, text, calls: [], finish: "stop" };
}

function scripted(question: Question, script: Script): Draft {
  const { reply, tool_calls: toolCalls, flood } = script;
  const says = reply !== undefined || toolCalls !== undefined || flood !== undefined;
  const usual = says ? silence : unscripted(question);
  const calls = toolCalls?.map(readCall) ?? usual.calls;
  return {
    reasoning: script.reasoning ?? usual.reasoning,
    text: flood === undefined ? (reply ?? usual.text) : "x".repeat(flood),
    calls,
    finish: calls.length > 0 ? "tool_calls" : "stop",
  };
}

const silence: Draft = { reasoning: "", text: "", calls: [], finish: "stop" };

const readCall = (call: ScriptedCall): ToolCall => ({
  name: call.name,
  arguments: isObject(call.arguments) ? call.arguments : {},
});

/** Ends the text before the first stop sequence in it; what would have come after it is never said. */
function honourStop(draft: Draft, stop: readonly string[]): Draft {
  let end = -1;
  let stopSequence: string | undefined;
  for (const sequence of stop) {
    const at = sequence === "" ? -1 : draft.text.indexOf(sequence);
    if (at === -1 || (end !== -1 && at >= end)) continue;
    end = at;
    stopSequence = sequence;
  }
  if (stopSequence === undefined) return draft;
  return { ...draft, text: draft.text.slice(0, end), calls: [], finish: "stop", stopSequence };
}

/** Cuts what is said to the token limit: reasoning first, then text, then the calls. */
function honourMaxTokens(draft: Draft, maxTokens: number | undefined): Draft {
  if (maxTokens === undefined || outputTokens(draft) <= maxTokens) return draft;
  const reasoning = cutToTokens(draft.reasoning, maxTokens);
  const text = cutToTokens(draft.text, maxTokens - tokensOf(reasoning));
  return { reasoning, text, calls: [], finish: "length" };
}

function outputTokens(draft: Draft): number {
  const calls = draft.calls.length === 0 ? 0 : tokensOf(JSON.stringify(draft.calls));
  return tokensOf(draft.reasoning) + tokensOf(draft.text) + calls;
}

function usageOf(question: Question, draft: Draft, told: ScriptedUsage): AnswerUsage {
  return {
    input: told.input ?? inputTokens(question),
    output: told.output ?? Math.max(1, outputTokens(draft)),
    cacheRead: told.cache_read ?? 0,
    cacheWrite: told.cache_write ?? 0,
    reasoning: told.reasoning ?? tokensOf(draft.reasoning),
  };
}

/** The answer to a question under a script; the same for the same input, whatever the vendor. */
export function answerTo(question: Question, script: Script, model: string): Answer {
  const meant = scripted(question, script);
  const draft = honourMaxTokens(honourStop(meant, question.stop), question.maxTokens);
  return {
    model: `${model}-2026-10-01`,
    createdSeconds: Math.floor(Date.now() / 1000),
    reasoning: draft.reasoning,
    text: draft.text,
    calls: draft.calls,
    finish: script.finish ?? draft.finish,
    stopSequence: draft.stopSequence,
    usage: script.usage === null ? undefined : usageOf(question, draft, script.usage ?? {}),
    chunkChars: script.flood ?? script.chunk_chars ?? chunkCharsUsual,
  };
}

/** A text in streamed pieces of `characters`, never cut inside a character. */
export function* pieces(text: string, characters: number): Generator<string> {
  const size = Math.max(1, characters);
  let start = 0;
  while (start < text.length) {
    let end = Math.min(start + size, text.length);
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last <= 0xdbff) end += 1;
    yield text.slice(start, end);
    start = end;
  }
}
