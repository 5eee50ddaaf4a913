/**
 * Watches a messages stream as it passes on a direct route. Spec: "Text endpoints", STREAM-04, T16, T44, T49.
 * Deltas, nearly all of a stream, are passed on unread; the few other events are parsed.
 */
import type { GatewayError } from "../../base/errors.ts";
import { isObject, type WireObject } from "../../base/json.ts";
import type { SseEvent } from "../../base/sse.ts";
import type { StreamSeen, StreamTap, TapOptions, WireError } from "../codec.ts";
import { parseObject } from "../read.ts";
import { decodeError, encodeError } from "./errors.ts";
import { createDeltaLog, type DeltaLog } from "./delta-log.ts";
import { decodeUsage, mergeUsage, tellsInput } from "./usage.ts";

/**
 * Where the stream stands: `stopped` after the upstream's last event, `broken` after its error or an answer that began
 * anew, `over` once the tap gave its ending or its failure.
 */
type Phase = "waiting" | "running" | "stopped" | "broken" | "over";

interface State {
  readonly options: TapOptions;
  readonly log: DeltaLog;
  phase: Phase;
  messageId: unknown;
  /** Indexes of the blocks that began and did not end yet. */
  readonly openBlocks: Set<unknown>;
  anyBlock: boolean;
  anyToolCall: boolean;
  usage: WireObject;
  usageTold: boolean;
  stopReason: string | undefined;
  ended: boolean;
  /** The frames that end the stream, kept until the charge is committed. */
  held: SseEvent[];
  error: WireError | undefined;
}

/** The tap of one stream. */
export function tapStream(options: TapOptions): StreamTap {
  const state: State = {
    options,
    log: createDeltaLog(),
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
    release: () => release(state),
    fail: (error) => fail(state, error),
    seen: viewOf(state),
  };
}

function viewOf(state: State): StreamSeen {
  return {
    get usage() {
      return state.usageTold ? decodeUsage(state.usage) : undefined;
    },
    get text() {
      return state.log.read();
    },
    get ended() {
      return state.ended;
    },
    get error() {
      return state.error;
    },
  };
}

function push(state: State, event: SseEvent): readonly SseEvent[] {
  if (state.phase !== "waiting" && state.phase !== "running") return [];
  if (event.event === "content_block_delta" && looksWhole(event.data)) {
    state.log.add(event.data);
    return [event];
  }
  // Some vendors of this protocol add OpenAI's end marker.
  if (event.data === "[DONE]") return [];
  const data = parseObject(event.data);
  if (!data) return breakOff(state, { message: "The upstream sent a frame that is not JSON." });
  const name = typeof data["type"] === "string" ? data["type"] : (event.event ?? "");
  return pushNamed(state, name, data, { event: name, data: event.data });
}

/** A cheap look, so that a delta cut in half is not passed on as if it were whole (T16). */
const looksWhole = (data: string): boolean => data.startsWith("{") && data.trimEnd().endsWith("}");

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
      state.log.add(frame.data);
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
  state.log.addBlock(block);
}

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

function breakOff(state: State, error: WireError): readonly SseEvent[] {
  state.error = error;
  state.phase = "broken";
  state.held = [];
  state.ended = false;
  return [];
}

/** Closes what is open, then the frames kept back, then what the upstream left out of the ending. */
function release(state: State): readonly SseEvent[] {
  if (state.phase === "over" || state.phase === "broken") return [];
  state.phase = "over";
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
  state.held = [];
  return frames;
}

function fail(state: State, error: GatewayError): readonly SseEvent[] {
  if (state.phase === "over") return [];
  state.phase = "over";
  state.held = [];
  const { error: body } = encodeError(error, "");
  return [frameOf("error", { error: body, request_id: null })];
}

const frameOf = (event: string, fields: object): SseEvent => ({
  event,
  data: JSON.stringify({ type: event, ...fields }),
});
