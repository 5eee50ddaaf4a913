/**
 * Encodes canonical events as a chat-completions stream. STREAM-03 to STREAM-05; T9, T16. The `finish` event writes the whole ending at
 * once: finish chunk, usage, `[DONE]`.
 */
import type { SseEvent } from "../../base/sse.ts";
import type { Usage } from "../../base/usage.ts";
import type { BlockId, CanonicalEvent } from "../canonical/events.ts";
import type { Citation, Json, JsonObject } from "../canonical/request.ts";
import type { Finish } from "../canonical/response.ts";
import {
  transducer,
  type AnswerContext,
  type EndReason,
  type Transducer,
  type WireError,
} from "../codec.ts";
import { streamError } from "../error-object.ts";
import { characters } from "../citations.ts";
import { explanationEvents } from "../explained.ts";
import { errorChunk } from "./errors.ts";
import { encodeFinish } from "./finish.ts";
import { Paragraphs } from "../paragraphs.ts";
import { member } from "../read.ts";
import { encodeMedia } from "./parts.ts";
import { detailsOf } from "./reasoning.ts";
import { encodeAnnotation, usesFunctions } from "./response.ts";
import { writeUsage } from "./usage.ts";

interface OpenCall {
  readonly index: number;
  readonly isCustom: boolean;
  hasArguments: boolean;
}

interface StreamState {
  readonly fields: {
    readonly id: string;
    readonly object: string;
    readonly created: number;
    readonly model: string;
  };
  /** The text of a chunk before and after its delta; the same for all chunks but the last. */
  readonly before: string;
  readonly after: string;
  readonly wantsUsage: boolean;
  /** The caller offered its tools as `functions`, and reads one call from `function_call`. */
  readonly asFunction: boolean;
  /** True if the upstream speaks this protocol. */
  isOwn: boolean;
  usage: Usage | undefined;
  /** By block: the call's position in the answer, and whether it has arguments. */
  readonly calls: Map<BlockId, OpenCall>;
  readonly paragraphs: Paragraphs;
  /** Number of characters sent, and the offset of each text block in them. */
  length: number;
  readonly offsets: Map<BlockId, number>;
  /** The citations so far. They are sent together before the end, as OpenAI does: its SDK keeps only the last delta's list. */
  readonly annotations: JsonObject[];
  /** The pictures so far; sent like the citations. */
  readonly images: JsonObject[];
  /** True once any reasoning was sent, and true if the open block has sent some. */
  hasReasoning: boolean;
  isReasoning: boolean;
  ended: boolean;
}

export function encodeStream(context: AnswerContext): Transducer<CanonicalEvent, SseEvent> {
  const fields = {
    id: `chatcmpl-${context.id}`,
    object: "chat.completion.chunk",
    created: context.createdAt,
    model: context.model,
  };
  const wantsUsage = context.request.includeUsage === true;
  const initial: StreamState = {
    fields,
    before: `${JSON.stringify(fields).slice(0, -1)},"choices":[{"index":0,"delta":`,
    after: `,"logprobs":null,"finish_reason":null}]${wantsUsage ? ',"usage":null' : ""}}`,
    wantsUsage,
    asFunction: usesFunctions(context.request),
    isOwn: false,
    usage: undefined,
    calls: new Map(),
    paragraphs: new Paragraphs(),
    length: 0,
    offsets: new Map(),
    annotations: [],
    images: [],
    hasReasoning: false,
    isReasoning: false,
    ended: false,
  };
  return transducer(initial, takeEvent, endStream);
}

function takeEvent(state: StreamState, event: CanonicalEvent): SseEvent[] {
  if (state.ended) return [];
  switch (event.type) {
    case "start":
      state.isOwn = event.protocol === "chat";
      return [delta(state, { role: "assistant", content: "", refusal: null })];
    case "refusal_delta":
      return [delta(state, { refusal: event.text })];
    case "media":
      state.images.push(...encodeMedia(event.part));
      return [];
    case "usage":
      state.usage = event.usage;
      return [];
    case "finish":
      return [
        ...explanationEvents(event.finish).flatMap((said) => takeEvent(state, said)),
        ...finishStream(state, event.finish),
      ];
    case "error":
      return breakOff(state, event);
    case "reasoning_start":
    case "reasoning_delta":
    case "reasoning_end":
      return takeReasoning(state, event);
    case "tool_call_start":
    case "tool_call_delta":
    case "tool_call_end":
      return takeCall(state, event);
    default:
      return takeText(state, event);
  }
}

type TextEvent = Extract<
  CanonicalEvent,
  { type: `text_${string}` | "citation" | `refusal_${string}` }
>;

/** Block starts and ends have no frame in this protocol. */
function takeText(state: StreamState, event: TextEvent): SseEvent[] {
  if (event.type === "text_delta") return addText(state, event.block, event.text);
  if (event.type === "citation") return cite(state, event.block, event.citation);
  state.paragraphs.begin(event.type === "text_start" && event.newMessage === true);
  return [];
}

/** Offsets of annotations count the characters of the whole answer. */
function cite(state: StreamState, block: BlockId, citation: Citation): SseEvent[] {
  const offset = state.offsets.get(block) ?? state.length;
  state.annotations.push(...encodeAnnotation(citation, offset, state.length - offset));
  return [];
}

/** The lists that wait for the end. */
const pictures = (state: StreamState): SseEvent[] =>
  state.images.length > 0 ? [delta(state, { images: state.images })] : [];
const citations = ({ annotations }: StreamState): JsonObject =>
  annotations.length > 0 ? { annotations } : {};

/** A separate message becomes a separate paragraph, as in a whole answer. */
function addText(state: StreamState, block: BlockId, text: string): SseEvent[] {
  const between = state.paragraphs.between(text);
  if (!state.offsets.has(block)) state.offsets.set(block, state.length + between.length);
  state.length += between.length + characters(text);
  const said = delta(state, { content: text });
  return between === "" ? [said] : [delta(state, { content: between }), said];
}

type ReasoningEvent = Extract<CanonicalEvent, { type: `reasoning_${string}` }>;
type CallEvent = Extract<CanonicalEvent, { type: `tool_call_${string}` }>;

function takeReasoning(state: StreamState, event: ReasoningEvent): SseEvent[] {
  if (event.type === "reasoning_delta") {
    // Several reasoning blocks become paragraphs of one text, as in a whole answer.
    const isNextBlock = state.hasReasoning && !state.isReasoning;
    state.hasReasoning = true;
    state.isReasoning = true;
    const text = delta(state, { reasoning_content: event.text });
    return isNextBlock ? [delta(state, { reasoning_content: "\n\n" }), text] : [text];
  }
  state.isReasoning = false;
  const details = event.type === "reasoning_end" ? detailsOf(event.signature) : undefined;
  return details ? [delta(state, { reasoning_details: details })] : [];
}

function takeCall(state: StreamState, event: CallEvent): SseEvent[] {
  if (event.type === "tool_call_start") {
    const index = state.calls.size;
    if (state.asFunction && index > 0) return [];
    const isCustom = event.custom === true;
    state.calls.set(event.block, { index, isCustom, hasArguments: isCustom });
    const { id, name } = event;
    if (isCustom && !state.asFunction)
      return [callDelta(state, { index, id, type: "custom", custom: { name, input: "" } })];
    const named = { name, arguments: "" };
    if (state.asFunction) return [delta(state, { function_call: named })];
    return [callDelta(state, { index, id, type: "function", function: named })];
  }
  const call = state.calls.get(event.block);
  if (!call) return [];
  // A function call without arguments gets an empty object.
  const text = event.type === "tool_call_delta" ? event.arguments : "{}";
  if (event.type === "tool_call_end" && call.hasArguments) return [];
  call.hasArguments = true;
  if (state.asFunction) return [delta(state, { function_call: { arguments: text } })];
  const { index } = call;
  return [
    callDelta(
      state,
      call.isCustom ? { index, custom: { input: text } } : { index, function: { arguments: text } },
    ),
  ];
}

const callDelta = (state: StreamState, call: JsonObject): SseEvent =>
  delta(state, { tool_calls: [call] });

const delta = ({ before, after }: StreamState, content: JsonObject): SseEvent => ({
  data: before + JSON.stringify(content) + after,
});

/** Callers that want usage get `usage: null` in every chunk but the last. */
function chunk(state: StreamState, choices: Json[], usage: JsonObject | null = null): SseEvent {
  const totals = state.wantsUsage ? { usage } : {};
  return { data: JSON.stringify({ ...state.fields, choices, ...totals }) };
}

function finishStream(state: StreamState, finish: Finish): SseEvent[] {
  if (finish.reason === "error")
    return breakOff(state, { message: "The upstream ended the answer with an error." });
  state.ended = true;
  const reason = encodeFinish(finish, state.asFunction);
  // vLLM's field, kept for callers of the same protocol.
  const stopReason = state.isOwn ? finish.stopSequence : undefined;
  const last = {
    index: 0,
    // OpenAI sends them with the finish reason too, and LobeChat reads them only there.
    delta: citations(state),
    logprobs: null,
    finish_reason: reason,
    ...member("stop_reason", stopReason),
  };
  const frames = [...pictures(state), chunk(state, [last])];
  if (state.wantsUsage && state.usage) frames.push(chunk(state, [], writeUsage(state.usage)));
  return [...frames, { data: "[DONE]" }];
}

function breakOff(state: StreamState, error: WireError): SseEvent[] {
  state.ended = true;
  const broken = { data: JSON.stringify(errorChunk(state.fields, streamError(error))) };
  const cited = state.annotations.length > 0 ? [delta(state, citations(state))] : [];
  return [...pictures(state), ...cited, broken];
}

function endStream(state: StreamState, why: EndReason): SseEvent[] {
  if (state.ended) return [];
  const message = why.kind === "cut" ? why.message : "The upstream's answer broke off.";
  return breakOff(state, { message });
}
