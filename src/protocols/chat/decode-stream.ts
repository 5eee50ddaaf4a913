/**
 * Chat-completions streams, read into canonical events. Requirements: TXT (block boundaries are completed).
 * Traps T1 to T8, T11, T16 to T18, T48, T49.
 */
import { isObject, type WireObject } from "../../base/json.ts";
import type { SseEvent } from "../../base/sse.ts";
import { tokenCount } from "../../base/usage.ts";
import type { BlockId, CanonicalEvent } from "../canonical/events.ts";
import type { EndReason, Transducer } from "../codec.ts";
import { transducer } from "../codec.ts";
import { FrameReader } from "../frame-reader.ts";
import { list, nonEmpty, objectOf, objects } from "../read.ts";
import { decodeError } from "./errors.ts";
import { decodeFinish } from "./finish.ts";
import { mergeDetails, reasoningText, signatureOf } from "./reasoning.ts";
import { thinkingParts } from "./response.ts";
import { endCalls, noToolCalls, takeCallPiece, type ToolCalls } from "./tool-calls.ts";
import { readUsage } from "./usage.ts";
import { varying } from "./varying.ts";

type TextKind = "text" | "refusal" | "reasoning";

interface StreamState {
  readonly reader: FrameReader;
  phase: "waiting" | "open" | "ended";
  id: string;
  /** The one text, refusal or reasoning block that is open; tool calls may be open beside it. */
  block: { readonly kind: TextKind; readonly id: BlockId } | undefined;
  blocksBegun: number;
  /** `reasoning_details` of the open reasoning block. */
  details: WireObject[];
  readonly tools: ToolCalls;
  /** `finish_reason` and vLLM's `stop_reason`, kept until the stream ends: usage may follow. */
  finish: { readonly reason: string; readonly stopReason: unknown } | undefined;
  /** Whether nothing but usage came after the reason so far. */
  isEnding: boolean;
  markerSeen: boolean;
}

/** A decoder for one stream. Of several choices the first is read. */
export function decodeStream(): Transducer<SseEvent, CanonicalEvent> {
  const initial: StreamState = {
    reader: new FrameReader(varying),
    phase: "waiting",
    id: "",
    block: undefined,
    blocksBegun: 0,
    details: [],
    tools: noToolCalls(),
    finish: undefined,
    isEnding: false,
    markerSeen: false,
  };
  return transducer(
    initial,
    (state, event) => [state, takeEvent(state, event)],
    endStream,
    (state) => state.isEnding,
  );
}

function takeEvent(state: StreamState, event: SseEvent): CanonicalEvent[] {
  const data = event.data.trim();
  if (data === "" || state.phase === "ended") return [];
  if (data === "[DONE]") {
    state.markerSeen = true;
    return endStream(state, { kind: "complete" });
  }
  const chunk = state.reader.read(data);
  if (!chunk) return breakOff(state, "The upstream sent a stream frame that is not a JSON object.");
  if (event.event === "error" || chunk["error"] || chunk["object"] === "error") {
    const { message, code } = decodeError(200, chunk);
    return breakOff(state, message, code);
  }
  return takeChunk(state, chunk);
}

function takeChunk(state: StreamState, chunk: WireObject): CanonicalEvent[] {
  const events: CanonicalEvent[] = [];
  const choices = list(chunk["choices"]);
  const choice = firstChoice(choices);
  if (state.phase === "waiting") {
    // Azure begins with a frame about its content filter, which has neither id nor choice.
    state.id = nonEmpty(chunk["id"]) ?? "";
    if (state.id === "" && !choices.some(isObject)) return [];
    state.phase = "open";
    const createdAt = tokenCount(chunk["created"]);
    events.push({ type: "start", protocol: "chat", id: state.id, createdAt });
  }
  const told = choice ? takeDelta(state, objectOf(choice["delta"])) : [];
  events.push(...told);
  if (told.length > 0) state.isEnding = false;
  const reason = nonEmpty(choice?.["finish_reason"]);
  if (reason !== undefined) {
    if (reason === "error") {
      return [...events, ...breakOff(state, "The upstream ended the answer with an error.")];
    }
    // Blocks end with the stream: some vendors send their last piece after the reason.
    state.finish = { reason, stopReason: choice?.["stop_reason"] };
    state.isEnding = true;
  }
  const usage = readUsage(
    chunk["usage"] ?? objectOf(chunk["x_groq"])["usage"] ?? choice?.["usage"],
  );
  if (usage) events.push({ type: "usage", usage });
  return events;
}

function firstChoice(choices: readonly unknown[]): WireObject | undefined {
  for (const one of choices) if (isObject(one) && (one["index"] ?? 0) === 0) return one;
  return undefined;
}

/** Empty strings and lists are no content: vendors fill unused fields with them (T1, T4). */
function takeDelta(state: StreamState, delta: WireObject): CanonicalEvent[] {
  const events: CanonicalEvent[] = [];
  const { content } = delta;
  const details = objects(delta["reasoning_details"]);
  const reasoning = reasoningText(delta) + (Array.isArray(content) ? thinkingText(content) : "");
  if (reasoning !== "" || details.length > 0) {
    events.push(...openBlock(state, "reasoning"));
    mergeDetails(state.details, details);
    events.push(...textDelta(state, reasoning));
  }
  for (const text of contentTexts(content)) {
    events.push(...openBlock(state, "text"), ...textDelta(state, text));
  }
  const refusal = nonEmpty(delta["refusal"]);
  if (refusal !== undefined) {
    events.push(...openBlock(state, "refusal"), ...textDelta(state, refusal));
  }
  const pieces = objects(delta["tool_calls"]);
  if (isObject(delta["function_call"])) {
    pieces.push({ index: -1, function: delta["function_call"] });
  }
  if (pieces.length > 0) events.push(...closeBlock(state));
  for (const piece of pieces) events.push(...takeCallPiece(state.tools, piece, state.id));
  return events;
}

const thinkingText = (content: readonly unknown[]): string =>
  thinkingParts(content)
    .map((part) => (part.type === "reasoning" ? part.text : ""))
    .join("");

function contentTexts(content: unknown): string[] {
  if (typeof content === "string") return content === "" ? [] : [content];
  return list(content).flatMap((part) => nonEmpty(objectOf(part)["text"]) ?? []);
}

function openBlock(state: StreamState, kind: TextKind): CanonicalEvent[] {
  if (state.block?.kind === kind) return [];
  const closed = closeBlock(state);
  state.block = { kind, id: `${kind}_${state.blocksBegun}` };
  state.blocksBegun += 1;
  return [...closed, { type: `${kind}_start`, block: state.block.id }];
}

function textDelta(state: StreamState, text: string): CanonicalEvent[] {
  if (text === "" || !state.block) return [];
  return [{ type: `${state.block.kind}_delta`, block: state.block.id, text }];
}

function closeBlock(state: StreamState): CanonicalEvent[] {
  const { block, details } = state;
  if (!block) return [];
  state.block = undefined;
  state.details = [];
  if (block.kind !== "reasoning") return [{ type: `${block.kind}_end`, block: block.id }];
  const signature = signatureOf(details);
  return [{ type: "reasoning_end", block: block.id, ...(signature ? { signature } : {}) }];
}

/** A call that was cut has no end: it would look as if its arguments were complete (T16). */
function breakOff(state: StreamState, message: string, code?: string): CanonicalEvent[] {
  const events = closeBlock(state);
  state.phase = "ended";
  return [...events, { type: "error", message, ...(code === undefined ? {} : { code }) }];
}

/** A stream counts as whole only when the upstream said so: by a finish reason, or by its end marker (T16). */
function endStream(state: StreamState, why: EndReason): CanonicalEvent[] {
  if (state.phase === "ended") return [];
  const isWhole = state.finish !== undefined || state.markerSeen;
  if (state.phase === "waiting" || !isWhole) {
    const broken = "The upstream's stream ended without a finish reason.";
    return breakOff(state, why.kind === "cut" ? why.message : broken);
  }
  const events = [...closeBlock(state), ...endCalls(state.tools, state.id)];
  state.phase = "ended";
  const hasCalls = state.tools.calls.length > 0;
  const finish = decodeFinish(state.finish?.reason, hasCalls, state.finish?.stopReason);
  return [...events, { type: "finish", finish }];
}
