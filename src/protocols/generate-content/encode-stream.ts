/**
 * Encodes canonical events as a generateContent stream. STREAM-03. Every frame is a whole response object. Text is sent as it arrives.
 * Neighbouring calls are sent together, with the last frame if the answer ends with them. Google's SDK sends each frame back as a turn of
 * its own, and Gemini requires that one turn has all calls, directly before their results (T20, T38).
 */
import type { SseEvent } from "../../base/sse.ts";
import type { Usage } from "../../base/usage.ts";
import type { BlockId, CanonicalEvent } from "../canonical/events.ts";
import type { Citation, JsonObject, Part, Signature } from "../canonical/request.ts";
import type { Finish } from "../canonical/response.ts";
import { transducer, type AnswerContext, type EndReason, type Transducer } from "../codec.ts";
import { streamError } from "../error-object.ts";
import { Paragraphs } from "../paragraphs.ts";
import { skipSignatureInAnswers } from "../skip-signature.ts";
import { signFirstCall } from "./encode-parts.ts";
import { encodeGrounding } from "./grounding.ts";
import { errorFrame } from "./errors.ts";
import { answerId, encodeAnswerPart, encodeFinish } from "./response.ts";
import { encodeUsage } from "./usage.ts";

type BlockEvent = Extract<CanonicalEvent, { block: BlockId }>;

interface OpenCall {
  readonly id: string;
  readonly name: string;
  /** The arguments so far. */
  json: string;
  /** True if complete but waiting for an earlier call: calls are kept in the order in which they began. */
  isComplete: boolean;
  signature: Signature | undefined;
}

interface State {
  readonly context: AnswerContext;
  responseId: string;
  isOver: boolean;
  readonly calls: Map<BlockId, OpenCall>;
  /** The complete calls that were not sent yet. */
  ready: JsonObject[];
  readonly paragraphs: Paragraphs;
  /** Bytes of text sent, and the texts by block, to encode citations. */
  length: number;
  readonly texts: Map<
    BlockId,
    { readonly offset: number; readonly pieces: string[]; readonly citations: Citation[] }
  >;
  /** True if the next call is the first one of an answer from another protocol. */
  awaitsFirstCall: boolean;
  usage: Usage | undefined;
}

export function encodeStream(context: AnswerContext): Transducer<CanonicalEvent, SseEvent> {
  const state: State = {
    context,
    responseId: context.id,
    isOver: false,
    calls: new Map(),
    ready: [],
    paragraphs: new Paragraphs(),
    length: 0,
    texts: new Map(),
    awaitsFirstCall: false,
    usage: undefined,
  };
  return transducer(state, takeEvent, end);
}

function takeEvent(state: State, event: CanonicalEvent): SseEvent[] {
  if (state.isOver) return [];
  switch (event.type) {
    case "start": {
      const ownId = event.protocol === "generate_content" ? event.id : "";
      state.responseId = answerId(ownId, state.context);
      state.awaitsFirstCall = event.protocol !== "generate_content";
      return [];
    }
    case "media":
      return partFrames(state, event.part);
    case "usage":
      state.usage = event.usage;
      return [];
    case "finish":
      return finish(state, event.finish);
    case "error":
      state.isOver = true;
      return [...readyCalls(state), errorFrame(streamError(event))];
    default:
      return takeBlock(state, event);
  }
}

function takeBlock(state: State, event: BlockEvent): SseEvent[] {
  const call = state.calls.get(event.block);
  switch (event.type) {
    case "text_start":
      state.paragraphs.begin(event.newMessage === true);
      return [];
    case "text_delta":
      return takeText(state, event.block, event.text);
    case "citation":
      state.texts.get(event.block)?.citations.push(event.citation);
      return [];
    case "refusal_delta":
      state.length += Buffer.byteLength(event.text);
      return partFrames(state, { type: "text", text: event.text });
    case "reasoning_delta":
      return partFrames(state, { type: "reasoning", text: event.text });
    case "reasoning_end":
      // The vendor's own form in streams: a signature on a part without text (T38).
      return partFrames(state, { type: "reasoning", text: "", signature: event.signature });
    case "tool_call_start": {
      const { block, id, name } = event;
      state.calls.set(block, { id, name, json: "", isComplete: false, signature: undefined });
      return [];
    }
    case "tool_call_delta":
      if (call) call.json += event.arguments;
      return [];
    case "tool_call_end":
      if (call) endCall(state, call, event.signature);
      return [];
    default:
      return [];
  }
}

function takeText(state: State, block: BlockId, piece: string): SseEvent[] {
  const between = state.paragraphs.between(piece);
  const offset = state.length + between.length;
  const text = state.texts.get(block) ?? { offset, pieces: [], citations: [] };
  text.pieces.push(piece);
  state.texts.set(block, text);
  state.length = offset + Buffer.byteLength(piece);
  return partFrames(state, { type: "text", text: between + piece });
}

function endCall(state: State, ended: OpenCall, signature: Signature | undefined): void {
  ended.isComplete = true;
  ended.signature = signature;
  for (const [block, call] of state.calls) {
    if (!call.isComplete) break;
    state.calls.delete(block);
    const { id, name, json } = call;
    const part: Part = { type: "tool_call", id, name, arguments: json, signature: call.signature };
    const wire = encodeAnswerPart(part);
    if (!wire) continue;
    if (state.awaitsFirstCall) signFirstCall([wire], skipSignatureInAnswers);
    state.awaitsFirstCall = false;
    state.ready.push(wire);
  }
}

/** Sends a part, after the calls before it. */
function partFrames(state: State, part: Part): SseEvent[] {
  const wire = encodeAnswerPart(part);
  return wire ? [...readyCalls(state), partsFrame(state, [wire])] : [];
}

function readyCalls(state: State): SseEvent[] {
  const calls = state.ready;
  state.ready = [];
  return calls.length > 0 ? [partsFrame(state, calls)] : [];
}

const partsFrame = (state: State, parts: JsonObject[]): SseEvent =>
  answerFrame(state, { content: { role: "model", parts }, index: 0 });

function answerFrame(state: State, candidate: JsonObject, more: JsonObject = {}): SseEvent {
  const { context, responseId } = state;
  return {
    data: JSON.stringify({
      candidates: [candidate],
      ...more,
      modelVersion: context.model,
      responseId,
    }),
  };
}

function finish(state: State, finished: Finish): SseEvent[] {
  for (const call of state.calls.values()) endCall(state, call, call.signature);
  const candidate: JsonObject = {
    content: { role: "model", parts: state.ready.length > 0 ? state.ready : [{ text: "" }] },
    ...encodeFinish(finished),
    ...encodeGrounding(
      [...state.texts.values()].map((text) => ({ ...text, text: text.pieces.join("") })),
    ),
    index: 0,
  };
  const usage: JsonObject = state.usage ? { usageMetadata: encodeUsage(state.usage) } : {};
  state.isOver = true;
  return [answerFrame(state, candidate, usage)];
}

/** A stream that ends without finish or error was cut and must not look like a normal ending (T16). */
function end(state: State, why: EndReason): SseEvent[] {
  if (state.isOver) return [];
  const message = why.kind === "cut" ? why.message : "The stream ended too early.";
  return [...readyCalls(state), errorFrame(streamError({ message }))];
}
