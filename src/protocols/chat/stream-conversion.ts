/**
 * Converts a whole answer to a stream and back, with everything that the canonical form lacks: all choices, logprobs, annotations, audio,
 * custom tool calls and vendor extensions. Traps T14, T15.
 */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import { isObject, type WireObject } from "../../base/json.ts";
import { getOrCreate } from "../../base/memoize.ts";
import type { SseEvent } from "../../base/sse.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import type { AnswerContext } from "../codec.ts";
import { member, objectOf, objects, parseObject } from "../read.ts";
import { endMarker } from "../stream-frames.ts";
import { collectFrames } from "../collect-frames.ts";
import { addMembers } from "./add-members.ts";
import { completeAnswer } from "./complete-answer.ts";
import { decodeStream } from "./decode-stream.ts";
import { ChatReader } from "./read-stream.ts";
import { encodeChoice } from "./response.ts";
import { normaliseUsage } from "./usage.ts";

/** Returns the stream of a whole answer. */
export function framesOf(
  given: JsonObject,
  { model, request, createdAt }: AnswerContext,
): SseEvent[] {
  const answer = { ...given };
  completeAnswer(answer, { namesTool: request.toolChoice?.type === "tool", createdAt });
  const { choices, usage, object: _whole, ...told } = answer;
  const wantsUsage = request.includeUsage === true;
  const fields = { ...told, object: "chat.completion.chunk", model };
  const chunk = (said: Json[], totals: JsonObject | null = null): SseEvent => ({
    data: JSON.stringify({ ...fields, choices: said, ...(wantsUsage ? { usage: totals } : {}) }),
  });
  const said = (objects(choices) as JsonObject[]).map((choice) => {
    const { message, logprobs = null, ...others } = choice;
    const deltas = deltasOf(message as JsonObject);
    // Clients append the logprobs of all frames, so they are sent once: with the first text, or at the end.
    const text = deltas.findIndex(
      (delta) => isPresent(delta["content"]) || isPresent(delta["refusal"]),
    );
    const steps = deltas.map((delta, step) => ({
      index: choice["index"]!,
      delta,
      logprobs: step === text ? logprobs : null,
      finish_reason: null,
    }));
    const atEnd = text < 0 ? logprobs : null;
    const end = { ...others, delta: {}, logprobs: atEnd };
    return { steps, end };
  });
  const totals = isObject(usage) && wantsUsage ? [chunk([], normaliseUsage(usage))] : [];
  return [
    ...said.flatMap(({ steps }) => steps.map((step) => chunk([step]))),
    ...said.map(({ end }) => chunk([end])),
    ...totals,
    endMarker,
  ];
}

/** Splits a completed message into deltas: reasoning first, calls last. */
function deltasOf(message: JsonObject): JsonObject[] {
  const { role, content, refusal, tool_calls: calls, ...others } = message;
  const said = Object.entries(others).filter(([, value]) => isPresent(value));
  const isReasoning = ([name]: readonly [string, Json]): boolean => name.startsWith("reasoning");
  const reasoning = Object.fromEntries(said.filter(isReasoning));
  const rest = Object.fromEntries(said.filter((entry) => !isReasoning(entry)));
  const pieces: JsonObject[] = [
    { role: role!, content: typeof content === "string" ? "" : null, refusal: null },
    reasoning,
    isPresent(content) ? { content: content! } : {},
    isPresent(refusal) ? { refusal: refusal! } : {},
    rest,
    ...(objects(calls) as JsonObject[]).map((call, index) => ({
      tool_calls: [{ ...call, index }],
    })),
  ];
  return pieces.filter((piece) => Object.keys(piece).length > 0);
}

const isPresent = (value: Json | undefined): boolean =>
  value !== undefined && value !== null && value !== "";

interface StreamedChoice {
  /** The choice's own stream, with index 0. */
  readonly frames: SseEvent[];
  /** The members of its deltas and of its choices that the canonical form does not read. */
  readonly message: JsonObject;
  readonly beside: JsonObject;
  readonly logprobs: JsonObject;
  /** The same of its calls, by the vendor's number, in the order in which they began. */
  readonly calls: Map<unknown, JsonObject>;
  /** True if it called a function the deprecated way. */
  isFunction: boolean;
}

/** Returns the whole answer of a stream; undefined if it has an error, or one of its choices broke off. */
export function answerFromFrames(frames: readonly SseEvent[]): JsonObject | undefined {
  const reader = new ChatReader();
  const choices = new Map<number, StreamedChoice>();
  const told: JsonObject = {};
  for (const frame of frames) {
    const { type } = reader.read(frame);
    // An error of the whole answer is in no choice.
    if (type === "error") return undefined;
    // Nothing after the end marker is part of the answer.
    const chunk = type === "chunk" ? parseObject(frame.data) : undefined;
    if (!chunk) continue;
    const { choices: wire, usage: _usage, object: _chunk, ...fields } = chunk as JsonObject;
    for (const [name, value] of Object.entries(fields)) if (isPresent(value)) told[name] = value;
    // The first choice gets the whole chunk. A copy for each would multiply its size, and a vendor may send any number.
    const { id = null, created = null } = chunk;
    for (const [at, choice] of objects(wire).entries())
      takeChoice(choices, at === 0 ? chunk : { id, created }, choice as JsonObject);
  }
  const isMarked = frames.some(({ data }) => data.trim() === endMarker.data);
  const whole: Json[] = [];
  for (const [index, choice] of [...choices].sort(([left], [right]) => left - right)) {
    const encoded = collectChoice(choice, index, isMarked);
    if (!encoded) return undefined;
    whole.push(encoded);
  }
  if (whole.length === 0) return undefined;
  const usage = member("usage", reader.wireUsage as JsonObject | undefined);
  const { obfuscation: _padding, ...answer } = told;
  return { ...answer, object: "chat.completion", choices: whole, ...usage };
}

/** The members of a delta that the canonical form reads. Reasoning is collected in the vendor's own spelling. */
const readMembers = new Set([
  "role",
  "content",
  "refusal",
  "tool_calls",
  "function_call",
  "reasoning_details",
  "images",
]);

const unreadMembers = (delta: WireObject): JsonObject =>
  Object.fromEntries(
    Object.entries(delta as JsonObject).filter(([name]) => !readMembers.has(name)),
  );

function takeChoice(
  choices: Map<number, StreamedChoice>,
  chunk: WireObject,
  choice: JsonObject,
): void {
  const {
    index: wireIndex,
    delta: wireDelta,
    logprobs,
    finish_reason: _reason,
    ...beside
  } = choice;
  const { stop_reason: _stop, usage: _usage, message, ...others } = beside;
  const index = Number(wireIndex ?? 0);
  const known = choices.get(index) ?? noChoice();
  choices.set(index, known);
  // Perplexity repeats the message so far beside each delta. A vendor that sends it whole has no delta.
  const whole = known.frames.length === 0 ? message : undefined;
  const [exact, own] = [exactTwinOf(chunk), exactTwinOf(choice)];
  known.frames.push({ data: JSON.stringify({ ...exact, choices: [{ ...own, index: 0 }] }) });
  const delta = objectOf(wireDelta ?? whole);
  known.isFunction ||= isObject(delta["function_call"]);
  addMembers(known.message, unreadMembers(delta));
  for (const call of objects(delta["tool_calls"])) {
    const { index: number, id, type: _type, function: _function, custom: _custom, ...more } = call;
    addMembers(
      getOrCreate(known.calls, number ?? id, () => ({})),
      more as JsonObject,
    );
  }
  addMembers(known.beside, others);
  if (isObject(logprobs)) addMembers(known.logprobs, logprobs);
}

const noChoice = (): StreamedChoice => ({
  frames: [],
  message: {},
  beside: {},
  logprobs: {},
  calls: new Map(),
  isFunction: false,
});

function collectChoice(
  { frames, message, beside, logprobs, calls, isFunction }: StreamedChoice,
  index: number,
  isMarked: boolean,
): JsonObject | undefined {
  const response = collectFrames(
    { decodeStream: () => decodeStream(true) },
    isMarked ? [...frames, endMarker] : frames,
  );
  if (!response) return undefined;
  const { message: said, ...choice } = encodeChoice(response, index, isFunction);
  const { reasoning_content: _content, reasoning: _text, ...rest } = said as JsonObject;
  const isTold = "reasoning_content" in message || "reasoning" in message;
  const whole = { ...(isTold ? rest : (said as JsonObject)), ...message };
  const called = objects(whole["tool_calls"]) as JsonObject[];
  const more = [...calls.values()];
  // Calls that share a number cannot be told apart.
  if (called.length > 0 && called.length === more.length)
    whole["tool_calls"] = called.map((call, at) => ({ ...more[at], ...call }));
  const told = member("logprobs", Object.keys(logprobs).length > 0 ? logprobs : undefined);
  // The vendor's own word, as in its stream: `complete-answer.ts` knows better what it means here.
  const ended = member("finish_reason", response.finish.raw);
  return { ...choice, ...ended, message: whole, ...beside, ...told };
}
