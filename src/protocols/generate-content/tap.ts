/**
 * Watches a generateContent stream as it passes on a direct route. Requirements: TXT, T16, T37, T49.
 * Every frame is a whole response object with the upstream's model name in it, so each is read;
 * few are written anew, because the name can nearly always be replaced in the text.
 */
import type { GatewayError } from "../../base/errors.ts";
import { isObject, type WireObject } from "../../base/json.ts";
import type { SseEvent } from "../../base/sse.ts";
import type { StreamTap, TapOptions } from "../codec.ts";
import { FrameReader } from "../frame-reader.ts";
import { breakOff, endOnce, viewOf, type HeldStream } from "../stream-tap.ts";
import { createTextLog, type TextLog } from "../text-log.ts";
import { decodeError, encodeError } from "./errors.ts";
import { decodeUsage, mergeUsage } from "./usage.ts";
import { varying } from "./varying.ts";

interface State extends HeldStream<"running"> {
  /** The canonical model id as JSON text. */
  readonly model: string;
  readonly reader: FrameReader;
  readonly log: TextLog;
  usage: WireObject;
  /** By index of a candidate, whether it is still being written. */
  readonly open: Map<unknown, boolean>;
}

/** The tap of one stream. */
export function tapStream(options: TapOptions): StreamTap {
  const state: State = {
    model: JSON.stringify(options.model),
    reader: new FrameReader(varying),
    log: createTextLog(),
    phase: "running",
    usage: {},
    open: new Map(),
    ended: false,
    held: [],
    error: undefined,
  };
  return {
    push: (event) => push(state, event),
    ...endOnce(state, () => ending(state), failure),
    seen: viewOf({
      usage: () => decodeUsage(state.usage),
      text: () => state.log.read(),
      ended: () => state.ended,
      error: () => state.error,
    }),
  };
}

function push(state: State, event: SseEvent): readonly SseEvent[] {
  if (state.phase !== "running" || event.data === "[DONE]") return [];
  const data = state.reader.read(event.data);
  if (!data) return breakOff(state, { message: "The upstream sent a frame that is not JSON." });
  if (data["error"] !== undefined && data["error"] !== null) {
    return breakOff(state, decodeError(502, data));
  }
  const pieces = answerText(data);
  for (const piece of pieces) state.log.add(piece);
  state.usage = mergeUsage(state.usage, data["usageMetadata"]);
  noteEnds(state, data);
  // No `event:` line: the vendor's SDK skips a frame that has one.
  return holdOrPass(state, { data: withModel(event.data, data, state.model) }, pieces.length > 0);
}

/**
 * The answer has ended once each candidate seen has a finish reason, or the prompt was blocked. A candidate that writes
 * on after its reason (vendors exist that send one with every frame) has not.
 */
function noteEnds(state: State, data: WireObject): void {
  const feedback = data["promptFeedback"];
  if (isObject(feedback) && typeof feedback["blockReason"] === "string") {
    state.open.set("prompt", false);
  }
  for (const candidate of Array.isArray(data["candidates"]) ? data["candidates"] : []) {
    if (!isObject(candidate)) continue;
    const index = candidate["index"] ?? 0;
    if (typeof candidate["finishReason"] === "string") state.open.set(index, false);
    else if (state.open.get(index) !== false || answerText({ candidates: [candidate] }).length > 0)
      state.open.set(index, true);
  }
  state.ended = state.open.size > 0 && ![...state.open.values()].includes(true);
}

/** After the end only a frame with more text shows that it was none; a frame with usage alone is part of it. */
function holdOrPass(state: State, frame: SseEvent, hasText: boolean): readonly SseEvent[] {
  if (state.ended && !hasText) {
    state.held.push(frame);
    return [];
  }
  const free = state.held;
  state.held = state.ended ? [frame] : [];
  return state.ended ? free : [...free, frame];
}

/** The pieces of output text in a response: text, thoughts, and function calls as JSON. */
export function answerText(data: WireObject): string[] {
  const pieces: string[] = [];
  const candidates = Array.isArray(data["candidates"]) ? data["candidates"] : [];
  for (const candidate of candidates) {
    const content = isObject(candidate) ? candidate["content"] : undefined;
    const parts = isObject(content) && Array.isArray(content["parts"]) ? content["parts"] : [];
    for (const part of parts) {
      const piece = isObject(part) ? partText(part) : "";
      if (piece !== "") pieces.push(piece);
    }
  }
  return pieces;
}

function partText(part: WireObject): string {
  if (typeof part["text"] === "string") return part["text"];
  const call = part["functionCall"];
  if (!isObject(call)) return "";
  const args = call["args"] ?? call["partialArgs"];
  return `${typeof call["name"] === "string" ? call["name"] : ""}${args === undefined ? "" : JSON.stringify(args)}`;
}

/**
 * What may follow the model's name up to the end of the frame for the name to be the top level's own:
 * members with scalar values and one closing brace. A quote within a JSON string is escaped, so no text can look like it.
 */
const modelMember =
  /"modelVersion"\s*:\s*"[^"\\]*"((?:\s*,\s*"\w+"\s*:\s*(?:"[^"\\]*"|-?[\d.]+|true|false|null))*\s*\})\s*$/y;

/** The frame with the canonical model id: replaced in the text where that is safe, else written anew. */
function withModel(text: string, data: WireObject, model: string): string {
  const at = text.lastIndexOf('"modelVersion"');
  if (at !== -1) {
    modelMember.lastIndex = at;
    const match = modelMember.exec(text);
    if (match) return `${text.slice(0, at)}"modelVersion":${model}${match[1]!}`;
  }
  return JSON.stringify({ ...data, modelVersion: JSON.parse(model) as string });
}

/** The frames kept back. The protocol has no end marker: the stream just closes. */
const ending = (state: State): readonly SseEvent[] => state.held;

const failure = (error: GatewayError): SseEvent => ({
  data: JSON.stringify(encodeError(error, "")),
});
