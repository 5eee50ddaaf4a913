/**
 * Decodes chat-completions streams into canonical events. Requirements: TXT (block boundaries are completed). Traps T1 to T8, T11, T16 to
 * T18, T48, T49.
 */
import { pushAll } from "../../base/push-all.ts";
import type { WireObject } from "../../base/json.ts";
import type { SseEvent } from "../../base/sse.ts";
import { tokenCount } from "../../base/usage.ts";
import type { BlockId, CanonicalEvent } from "../canonical/events.ts";
import { transducer, type EndReason, type Transducer, type WireError } from "../codec.ts";
import type { Citation } from "../canonical/request.ts";
import { characters, decodePages, placeCitation } from "../citations.ts";
import { nonEmpty } from "../read.ts";
import { decodeFinish } from "./finish.ts";
import type { Output } from "./output.ts";
import { decodeContent } from "./parts.ts";
import { ChatReader, type ChatChoice, type ChatChunk } from "./read-stream.ts";
import { mergeDetails, signatureOf } from "./reasoning.ts";
import { endCalls, hasOwnCalls, noToolCalls, takeCallPiece, type ToolCalls } from "./tool-calls.ts";

type TextKind = "text" | "refusal" | "reasoning";

interface StreamState {
  readonly reader: ChatReader;
  phase: "waiting" | "open" | "ended";
  id: string;
  /** The index of the choice that is read: 0, unless the stream begins with another. */
  choice: unknown;
  /** The one text, refusal or reasoning block that is open; tool calls may be open beside it. */
  block: { readonly kind: TextKind; readonly id: BlockId } | undefined;
  blocksBegun: number;
  /** The pages listed beside the answer; ignored if it has annotations. */
  pages: readonly Citation[];
  hasAnnotations: boolean;
  /** Offset and length of each text block so far, to place citations. */
  readonly texts: { readonly block: BlockId; readonly offset: number; length: number }[];
  /** `reasoning_details` of the open reasoning block. */
  details: WireObject[];
  readonly tools: ToolCalls;
  /** `finish_reason` and vLLM's `stop_reason`, kept until the stream ends, because usage may follow. */
  finish: { readonly reason: string; readonly stopReason: unknown } | undefined;
  /** True if only usage has followed the finish reason so far. */
  isEnding: boolean;
  markerSeen: boolean;
}

/**
 * Returns a decoder for one stream. It reads only one choice. Calls that the vendor's servers made have a place in this protocol alone:
 * `hasServerCalls` reads them too.
 */
export function decodeStream(hasServerCalls = false): Transducer<SseEvent, CanonicalEvent> {
  const initial: StreamState = {
    reader: new ChatReader(),
    phase: "waiting",
    id: "",
    choice: undefined,
    block: undefined,
    blocksBegun: 0,
    pages: [],
    hasAnnotations: false,
    texts: [],
    details: [],
    tools: noToolCalls(hasServerCalls),
    finish: undefined,
    isEnding: false,
    markerSeen: false,
  };
  return {
    ...transducer(initial, takeEvent, endStream, (state) => state.isEnding),
    isOpening: () => initial.reader.isOpening,
  };
}

function takeEvent(state: StreamState, event: SseEvent): CanonicalEvent[] {
  if (state.phase === "ended") return [];
  const read = state.reader.read(event);
  switch (read.type) {
    case "chunk":
      return takeChunk(state, read);
    case "error":
      return breakOff(state, read.error);
    case "marker":
      state.markerSeen = true;
      return endStream(state, { kind: "complete" });
    case "nothing":
      return [];
  }
}

function takeChunk(state: StreamState, seen: ChatChunk): CanonicalEvent[] {
  const { chunk, choices, error } = seen;
  const events: CanonicalEvent[] = [];
  if (state.phase === "waiting") {
    // Azure first sends a frame about its content filter, without an id or a choice.
    state.id = nonEmpty(chunk["id"]) ?? "";
    if (state.id === "" && choices.length === 0) return [];
    state.phase = "open";
    const createdAt = tokenCount(chunk["created"]);
    events.push({ type: "start", protocol: "chat", id: state.id, createdAt });
  }
  const pages = decodePages(chunk);
  if (pages.length > 0) state.pages = pages;
  const choice = choiceIn(state, choices);
  const outputEvents = choice ? takeOutput(state, choice.output) : [];
  pushAll(events, outputEvents);
  if (error) return [...events, ...breakOff(state, error)];
  if (outputEvents.length > 0) state.isEnding = false;
  if (choice?.reason !== undefined) {
    // Blocks end with the stream: some vendors send their last piece after the finish reason.
    state.finish = { reason: choice.reason, stopReason: choice.stopReason };
    // An error ending is reported only when the stream closes.
    state.isEnding = decodeFinish(choice.reason, false).reason !== "error";
  }
  const { usage, coversStartOnly } = state.reader;
  if (seen.reportsUsage && usage)
    events.push({ type: "usage", usage, ...(coversStartOnly ? { coversStartOnly } : {}) });
  return events;
}

/** The choice that is read. */
function choiceIn(state: StreamState, choices: readonly ChatChoice[]): ChatChoice | undefined {
  state.choice ??= (choices.find(({ index }) => index === 0) ?? choices[0])?.index;
  return choices.find(({ index }) => index === state.choice);
}

function takeOutput(state: StreamState, output: Output): CanonicalEvent[] {
  const { texts, reasoning, details, refusal, citations, images, calls } = output;
  const events: CanonicalEvent[] = [];
  if (reasoning !== "" || details.length > 0) {
    events.push(...openBlock(state, "reasoning"));
    mergeDetails(state.details, details);
    events.push(...textDelta(state, reasoning));
  }
  for (const text of texts) events.push(...openBlock(state, "text"), ...textDelta(state, text));
  if (citations.length > 0) state.hasAnnotations = true;
  for (const citation of citations) events.push(...citationEvents(state, citation));
  if (refusal !== "") events.push(...openBlock(state, "refusal"), ...textDelta(state, refusal));
  for (const part of decodeContent(images, "images", [])) {
    if (part.type === "media") events.push(...closeBlock(state), { type: "media", part });
  }
  if (calls.length > 0) events.push(...closeBlock(state));
  for (const piece of calls) events.push(...takeCallPiece(state.tools, piece, state.id));
  return events;
}

function openBlock(state: StreamState, kind: TextKind): CanonicalEvent[] {
  if (state.block?.kind === kind) return [];
  const closed = closeBlock(state);
  state.block = { kind, id: `${kind}_${state.blocksBegun}` };
  state.blocksBegun += 1;
  const last = state.texts.at(-1);
  const offset = last ? last.offset + last.length : 0;
  if (kind === "text") state.texts.push({ block: state.block.id, offset, length: 0 });
  return [...closed, { type: `${kind}_start`, block: state.block.id }];
}

function textDelta(state: StreamState, text: string): CanonicalEvent[] {
  if (text === "" || !state.block) return [];
  if (state.block.kind === "text") state.texts.at(-1)!.length += characters(text);
  return [{ type: `${state.block.kind}_delta`, block: state.block.id, text }];
}

/** Offsets of annotations count the whole text, across blocks. */
function citationEvents({ texts }: StreamState, annotation: Citation): CanonicalEvent[] {
  const placed = placeCitation(annotation, texts);
  return placed
    ? [{ type: "citation", block: texts[placed.index]!.block, citation: placed.citation }]
    : [];
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

/** A truncated call gets no end event: its arguments would look complete (T16). */
function breakOff(state: StreamState, { message, type, code = type }: WireError): CanonicalEvent[] {
  const events = closeBlock(state);
  state.phase = "ended";
  return [...events, { type: "error", message, ...(code === undefined ? {} : { code }) }];
}

/** A stream is complete only if the upstream said so, by a finish reason or by its end marker (T16). */
function endStream(state: StreamState, why: EndReason): CanonicalEvent[] {
  if (state.phase === "ended") return [];
  const isWhole = state.finish !== undefined || state.markerSeen;
  if (state.phase === "waiting" || !isWhole) {
    const broken = "The upstream's stream ended without a finish reason.";
    return breakOff(state, { message: why.kind === "cut" ? why.message : broken });
  }
  const pages = state.hasAnnotations ? [] : state.pages;
  const cited = pages.flatMap((page) => citationEvents(state, page));
  const events = [...cited, ...closeBlock(state), ...endCalls(state.tools, state.id)];
  state.phase = "ended";
  const hasCalls = hasOwnCalls(state.tools);
  const finish = decodeFinish(state.finish?.reason, hasCalls, state.finish?.stopReason);
  return [...events, { type: "finish", finish }];
}
