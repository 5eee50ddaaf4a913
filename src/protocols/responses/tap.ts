/**
 * A responses stream in passing on the direct route: frames that carry a response object get the canonical model,
 * the others pass untouched; the terminal event is kept back. Requirements: STREAM, traps T16, T37, T45.
 */
import { isObject, type WireObject } from "../../base/json.ts";
import { tokenCount, type Usage } from "../../base/usage.ts";
import type { GatewayError } from "../../base/errors.ts";
import type { SseEvent } from "../../base/sse.ts";
import type { JsonObject } from "../canonical/request.ts";
import type { StreamTap, TapOptions, WireError } from "../codec.ts";
import { FrameReader } from "../frame-reader.ts";
import { viewOf } from "../stream-tap.ts";
import { createTextLog } from "../text-log.ts";
import { decodeError, errorEvent, responseError } from "./errors.ts";
import { answerText } from "./facts.ts";
import { completeResponse } from "./response-object.ts";
import { readUsage } from "./usage.ts";
import { varying } from "./varying.ts";

const none: readonly SseEvent[] = [];
const endMarker: SseEvent = { data: "[DONE]" };
const terminalTypes = new Set([
  "response.completed",
  "response.incomplete",
  "response.failed",
  "response.cancelled",
]);

/** Where a stream stands. */
interface TapState {
  readonly reader: FrameReader;
  readonly model: string;
  readonly text: ReturnType<typeof createTextLog>;
  /** The response object as the stream's first event gave it. */
  response: JsonObject | undefined;
  terminal: SseEvent | undefined;
  failed: boolean;
  sequenceNumber: number;
  usage: Usage | undefined;
  error: WireError | undefined;
  closed: boolean;
}

/** A tap for one stream. Frames after the terminal event, or after the tap's own ending, are swallowed. */
export function createResponsesTap(options: TapOptions): StreamTap {
  const state: TapState = {
    reader: new FrameReader(varying),
    model: options.model,
    text: createTextLog(),
    response: undefined,
    terminal: undefined,
    failed: false,
    sequenceNumber: -1,
    usage: undefined,
    error: undefined,
    closed: false,
  };
  return {
    push: (event) => (state.closed || state.terminal ? none : pushFrame(state, event)),
    release() {
      if (state.closed) return none;
      state.closed = true;
      return state.terminal ? [state.terminal, endMarker] : [endMarker];
    },
    fail(error) {
      if (state.closed) return none;
      state.closed = true;
      return [failure(state, error), endMarker];
    },
    seen: viewOf({
      usage: () => state.usage,
      text: () => state.text.read(),
      ended: () => state.terminal !== undefined,
      error: () => state.error,
    }),
  };
}

function pushFrame(state: TapState, event: SseEvent): readonly SseEvent[] {
  const data = event.data.trim();
  // The end marker is the gateway's to write, after the terminal event.
  if (data === "" || data === endMarker.data) return none;
  const frame = state.reader.read(data);
  if (!frame) {
    state.error ??= { message: "The upstream sent a stream frame that is not a JSON object." };
    return none;
  }
  state.sequenceNumber = tokenCount(frame["sequence_number"], state.sequenceNumber + 1);
  const type = frameType(frame, event);
  if (type === "error") {
    state.error ??= decodeError(200, frame);
    return none;
  }
  if (isObject(frame["response"])) {
    return takeResponse(state, type, frame, frame["response"] as JsonObject);
  }
  // After an error only the failed response is of use: it may carry usage (T45).
  if (state.error) return none;
  if (type.endsWith(".delta") && !type.startsWith("response.audio")) state.text.add(frame["delta"]);
  return [event.event === undefined ? { event: type, data } : event];
}

/** The event's name, as the data says it, else its `event:` line; a bare `{error}` counts as an error. */
function frameType(frame: WireObject, event: SseEvent): string {
  if (typeof frame["type"] === "string") return frame["type"];
  return event.event ?? (frame["error"] ? "error" : "message");
}

function takeResponse(
  state: TapState,
  type: string,
  frame: WireObject,
  response: JsonObject,
): readonly SseEvent[] {
  completeResponse(response, state.model);
  state.usage = readUsage(response["usage"]) ?? state.usage;
  const out = { event: type, data: JSON.stringify(frame) };
  if (!terminalTypes.has(type)) {
    state.response ??= response;
    return state.error ? none : [out];
  }
  state.terminal = out;
  if (state.text.read() === "") state.text.add(answerText(response));
  if (type === "response.failed") {
    state.failed = true;
    state.error ??= decodeError(200, frame);
  }
  return none;
}

/** The upstream's own failed response where it sent one, else ours; an `error` event where there is no response yet. */
function failure(state: TapState, error: GatewayError): SseEvent {
  if (state.failed && state.terminal) return state.terminal;
  const next = state.sequenceNumber + 1;
  if (!state.response) {
    return { event: "error", data: JSON.stringify(errorEvent(error, next)) };
  }
  const response = { ...state.response, status: "failed", error: responseError(error) };
  const data = { type: "response.failed", sequence_number: next, response };
  return { event: data.type, data: JSON.stringify(data) };
}
