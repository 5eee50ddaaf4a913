/**
 * Watches a messages stream as it passes on a direct route. Requirements: TXT, STREAM-04, T16, T44, T49.
 * Every event is read: what is not JSON must be seen. Nearly all are deltas, which go on as they came.
 */
import type { GatewayError } from "../../base/errors.ts";
import { isObject, type WireObject } from "../../base/json.ts";
import type { SseEvent } from "../../base/sse.ts";
import type { StreamTap, TapOptions } from "../codec.ts";
import { FrameReader } from "../frame-reader.ts";
import { breakOff, endOnce, viewOf, type HeldStream } from "../stream-tap.ts";
import { createTextLog, type TextLog } from "../text-log.ts";
import { decodeError, encodeError } from "./errors.ts";
import { decodeUsage, mergeUsage, tellsInput } from "./usage.ts";
import { varying } from "./varying.ts";

/** What the tap knows of its stream. It is `stopped` after the upstream's last event, `broken` also after an answer that began anew. */
interface State extends HeldStream<"waiting" | "running" | "stopped"> {
  readonly options: TapOptions;
  readonly reader: FrameReader;
  readonly log: TextLog;
  messageId: unknown;
  /** Indexes of the blocks that began and did not end yet. */
  readonly openBlocks: Set<unknown>;
  anyBlock: boolean;
  anyToolCall: boolean;
  usage: WireObject;
  usageTold: boolean;
  stopReason: string | undefined;
}

/** The tap of one stream. */
export function tapStream(options: TapOptions): StreamTap {
  const state: State = {
    options,
    reader: new FrameReader(varying),
    log: createTextLog(),
    phase: "waiting",
    messageId: undefined,
    openBlocks: new Set(),
    anyBlock: false,
    anyToolCall: false,
    usage: {},
    usageTold: false,
    stopReason: undefined,
    ended: false,
    held: [],
    error: undefined,
  };
  return {
    push: (event) => push(state, event),
    ...endOnce(state, () => ending(state), failure),
    seen: viewOf({
      usage: () => (state.usageTold ? decodeUsage(state.usage) : undefined),
      text: () => state.log.read(),
      ended: () => state.ended,
      error: () => state.error,
    }),
  };
}

function push(state: State, event: SseEvent): readonly SseEvent[] {
  if (state.phase !== "waiting" && state.phase !== "running") return [];
  // Some vendors of this protocol add OpenAI's end marker.
  if (event.data === "[DONE]") return [];
  const data = state.reader.read(event.data);
  if (!data) return breakOff(state, { message: "The upstream sent a frame that is not JSON." });
  const name = typeof data["type"] === "string" ? data["type"] : (event.event ?? "");
  return pushNamed(state, name, data, { event: name, data: event.data });
}

function pushNamed(
  state: State,
  name: string,
  data: WireObject,
  frame: SseEvent,
): readonly SseEvent[] {
  switch (name) {
    case "message_start":
      return messageStart(state, data);
    case "content_block_start":
      blockStart(state, data);
      return [frame];
    case "content_block_delta":
      state.log.add(deltaText(data["delta"]));
      return [frame];
    case "content_block_stop":
      state.openBlocks.delete(data["index"]);
      return [frame];
    case "message_delta":
      return messageDelta(state, data, frame);
    case "message_stop":
      state.phase = "stopped";
      return hold(state, frame);
    case "error":
      return breakOff(state, decodeError(502, data));
    default:
      return [frame];
  }
}

function messageStart(state: State, data: WireObject): readonly SseEvent[] {
  const message = isObject(data["message"]) ? data["message"] : {};
  if (state.phase !== "waiting") return secondStart(state, message);
  state.phase = "running";
  state.messageId = message["id"];
  const told = isObject(message["usage"]) ? message["usage"] : {};
  state.usage = mergeUsage(state.usage, told);
  state.usageTold = tellsInput(told);
  if (typeof message["stop_reason"] === "string") state.stopReason = message["stop_reason"];
  const usage = state.usageTold
    ? told
    : { output_tokens: 0, ...told, input_tokens: state.options.inputEstimate };
  const changed = { ...data, message: { ...message, model: state.options.model, usage } };
  return [{ event: "message_start", data: JSON.stringify(changed) }];
}

/**
 * A proxy on the way that retries shows as a second `message_start`. Said twice, it is passed on once. In the midst of
 * an answer it cannot be mended: what the caller already has, perhaps half a tool call, cannot be taken back.
 */
function secondStart(state: State, message: WireObject): readonly SseEvent[] {
  if (state.anyBlock && message["id"] !== state.messageId) {
    return breakOff(state, { message: "The upstream began its answer anew in the midst of it." });
  }
  if (isObject(message["usage"])) state.usage = mergeUsage(state.usage, message["usage"]);
  return [];
}

function blockStart(state: State, data: WireObject): void {
  const block = isObject(data["content_block"]) ? data["content_block"] : {};
  state.openBlocks.add(data["index"]);
  state.anyBlock = true;
  if (block["type"] === "tool_use") state.anyToolCall = true;
  // Some vendors put the whole block there.
  state.log.add(block["text"]);
  state.log.add(block["thinking"]);
  const input = block["input"];
  if (isObject(input) && Object.keys(input).length > 0) state.log.add(JSON.stringify(input));
}

const deltaText = (delta: unknown): unknown =>
  isObject(delta)
    ? (delta["text"] ?? delta["thinking"] ?? delta["partial_json"] ?? delta["content"])
    : undefined;

function messageDelta(state: State, data: WireObject, frame: SseEvent): readonly SseEvent[] {
  if (isObject(data["usage"])) {
    state.usage = mergeUsage(state.usage, data["usage"]);
    state.usageTold = true;
  }
  const delta = isObject(data["delta"]) ? data["delta"] : {};
  if (typeof delta["stop_reason"] !== "string") return [frame];
  state.stopReason = delta["stop_reason"];
  return hold(state, frame);
}

function hold(state: State, frame: SseEvent): readonly SseEvent[] {
  state.ended = true;
  state.held.push(frame);
  return [];
}

/** Closes what is open, then the frames kept back, then what the upstream left out of the ending. */
function ending(state: State): readonly SseEvent[] {
  const frames = [...state.openBlocks].map((index) => frameOf("content_block_stop", { index }));
  if (!state.held.some((frame) => frame.event === "message_delta")) {
    const reason = state.stopReason ?? (state.anyToolCall ? "tool_use" : "end_turn");
    const delta = { stop_reason: reason, stop_sequence: null };
    frames.push(frameOf("message_delta", { delta, usage: { output_tokens: 0, ...state.usage } }));
  }
  frames.push(...state.held);
  if (!state.held.some((frame) => frame.event === "message_stop")) {
    frames.push(frameOf("message_stop", {}));
  }
  return frames;
}

function failure(error: GatewayError): SseEvent {
  const { error: body } = encodeError(error, "");
  return frameOf("error", { error: body, request_id: null });
}

const frameOf = (event: string, fields: object): SseEvent => ({
  event,
  data: JSON.stringify({ type: event, ...fields }),
});
