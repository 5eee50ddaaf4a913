/**
 * The generateContent stream, written from canonical events. STREAM-03.
 * Every frame is a whole response object; text goes as it comes, a call goes whole once it is complete.
 */
import { GatewayError } from "../../base/errors.ts";
import type { SseEvent } from "../../base/sse.ts";
import type { Usage } from "../../base/usage.ts";
import type { BlockId, CanonicalEvent } from "../canonical/events.ts";
import type { JsonObject, Part, Signature } from "../canonical/request.ts";
import type { Finish } from "../canonical/response.ts";
import { transducer, type AnswerContext, type EndReason, type Transducer } from "../codec.ts";
import { encodeError } from "./errors.ts";
import { answerId, encodeAnswerPart, encodeFinish } from "./response.ts";
import { encodeUsage } from "./usage.ts";

type BlockEvent = Extract<CanonicalEvent, { block: BlockId }>;

interface OpenCall {
  readonly id: string;
  readonly name: string;
  /** The arguments so far. */
  readonly json: string;
  /** Complete, but waiting for a call that began before it: calls go in the order in which they began. */
  readonly isComplete: boolean;
  readonly signature: Signature | undefined;
}

interface State {
  readonly context: AnswerContext;
  readonly responseId: string;
  readonly isOver: boolean;
  readonly calls: ReadonlyMap<BlockId, OpenCall>;
  readonly usage: Usage | undefined;
}

type Step = [State, SseEvent[]];

/** An encoder of one stream. */
export function encodeStream(context: AnswerContext): Transducer<CanonicalEvent, SseEvent> {
  const initial: State = {
    context,
    responseId: context.id,
    isOver: false,
    calls: new Map(),
    usage: undefined,
  };
  return transducer(initial, step, end);
}

function step(state: State, event: CanonicalEvent): Step {
  if (state.isOver) return [state, []];
  switch (event.type) {
    case "start": {
      const ownId = event.protocol === "generate_content" ? event.id : "";
      return [{ ...state, responseId: answerId(ownId, state.context) }, []];
    }
    case "usage":
      return [{ ...state, usage: event.usage }, []];
    case "finish":
      return finish(state, event.finish);
    case "error":
      return [{ ...state, isOver: true }, [errorFrame(event.message)]];
    default:
      return takeBlock(state, event);
  }
}

function takeBlock(state: State, event: BlockEvent): Step {
  switch (event.type) {
    case "text_delta":
    case "refusal_delta":
      return [state, partFrames(state, { type: "text", text: event.text })];
    case "reasoning_delta":
      return [state, partFrames(state, { type: "reasoning", text: event.text })];
    case "reasoning_end":
      return [state, signatureFrames(state, event.signature)];
    case "tool_call_start": {
      const { id, name } = event;
      const call: OpenCall = { id, name, json: "", isComplete: false, signature: undefined };
      return [{ ...state, calls: new Map(state.calls).set(event.block, call) }, []];
    }
    case "tool_call_delta":
      return [addPiece(state, event.block, event.arguments), []];
    case "tool_call_end":
      return endCall(state, event.block, event.signature);
    default:
      return [state, []];
  }
}

function addPiece(state: State, block: BlockId, piece: string): State {
  const call = state.calls.get(block);
  if (!call) return state;
  const grown: OpenCall = { ...call, json: call.json + piece };
  return { ...state, calls: new Map(state.calls).set(block, grown) };
}

function endCall(state: State, block: BlockId, signature: Signature | undefined): Step {
  const ended = state.calls.get(block);
  if (!ended) return [state, []];
  const calls = new Map(state.calls).set(block, { ...ended, isComplete: true, signature });
  const frames: SseEvent[] = [];
  for (const [id, call] of calls) {
    if (!call.isComplete) break;
    calls.delete(id);
    frames.push(...partFrames(state, callPart(call)));
  }
  return [{ ...state, calls }, frames];
}

const callPart = ({ id, name, json, signature }: OpenCall): Part => ({
  type: "tool_call",
  id,
  name,
  arguments: json,
  signature,
});

/** The vendor's own way in streams: a signature on a part without text (T38). */
const signatureFrames = (state: State, signature: Signature | undefined): SseEvent[] =>
  partFrames(state, { type: "reasoning", text: "", signature });

function partFrames(state: State, part: Part): SseEvent[] {
  const wire = encodeAnswerPart(part);
  return wire ? [answerFrame(state, { content: { role: "model", parts: [wire] }, index: 0 })] : [];
}

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

function finish(from: State, told: Finish): Step {
  const frames: SseEvent[] = [];
  let state = from;
  for (const block of from.calls.keys()) {
    const [ended, more] = endCall(state, block, undefined);
    state = ended;
    frames.push(...more);
  }
  const candidate: JsonObject = {
    content: { role: "model", parts: [{ text: "" }] },
    finishReason: encodeFinish(told),
    index: 0,
  };
  const usage: JsonObject = state.usage ? { usageMetadata: encodeUsage(state.usage) } : {};
  frames.push(answerFrame(state, candidate, usage));
  return [{ ...state, isOver: true }, frames];
}

/** A stream that ends without finish or error was cut: never a normal ending (T16). */
function end(state: State, why: EndReason): SseEvent[] {
  if (state.isOver) return [];
  return [errorFrame(why.kind === "cut" ? why.message : "The stream ended too early.")];
}

const errorFrame = (message: string): SseEvent => ({
  data: JSON.stringify(encodeError(new GatewayError("upstream_error", message), "")),
});
