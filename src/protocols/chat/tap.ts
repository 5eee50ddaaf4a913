/**
 * A chat stream in passing on the direct route: sets the model, takes the usage, keeps back how it ends.
 * Requirements: TXT, STREAM-04, traps T16, T37, T45 to T50.
 * Every frame is read: what is not JSON must be seen.
 */
import { isObject, type WireObject } from "../../base/json.ts";
import { tokenCount, type Usage } from "../../base/usage.ts";
import type { SseEvent } from "../../base/sse.ts";
import type { StreamTap, TapOptions, WireError } from "../codec.ts";
import { FrameReader } from "../frame-reader.ts";
import { nonEmpty, objectOf } from "../read.ts";
import { viewOf } from "../stream-tap.ts";
import { createTextLog } from "../text-log.ts";
import { decodeError, errorChunk } from "./errors.ts";
import { outputTexts } from "./facts.ts";
import { createRewrite, type Rewrite } from "./rewrite.ts";
import { varying } from "./varying.ts";
import { normaliseUsage, readUsage } from "./usage.ts";

const none: readonly SseEvent[] = [];
const endMarker = "[DONE]";

/** The fields that are the same on every chunk. */
interface ChunkFields {
  readonly id: unknown;
  readonly object: string;
  readonly created: unknown;
  readonly model: string;
}

/** Where a stream stands; every function below changes it and nothing else. */
interface TapState {
  readonly model: string;
  readonly reader: FrameReader;
  readonly rewrite: Rewrite;
  /** Whether the caller asked for usage: then it gets one frame of it at the end, else no `usage` key at all. */
  readonly wantsUsage: boolean;
  /** Choices asked for: the answer is complete when as many have finished. */
  readonly answers: number;
  readonly text: ReturnType<typeof createTextLog>;
  readonly finished: Set<unknown>;
  calledTools: boolean;
  fields: ChunkFields;
  held: SseEvent[];
  usage: Usage | undefined;
  /** The usage object as last told, for the caller. */
  wireUsage: WireObject | undefined;
  /** The upstream's own usage frame, for what else it says. */
  usageChunk: WireObject | undefined;
  error: WireError | undefined;
  markerSeen: boolean;
  closed: boolean;
}

/** A tap for one stream. Frames after the end marker, an error or the tap's own ending are swallowed. */
export function createChatTap(options: TapOptions): StreamTap {
  const streamOptions = options.request["stream_options"];
  const wantsUsage = isObject(streamOptions) && streamOptions["include_usage"] === true;
  const state: TapState = {
    model: options.model,
    reader: new FrameReader(varying),
    rewrite: createRewrite(options.model, wantsUsage),
    wantsUsage,
    answers: Math.max(1, tokenCount(options.request["n"], 1)),
    text: createTextLog(),
    finished: new Set(),
    calledTools: false,
    fields: { id: "chatcmpl-", object: "chat.completion.chunk", created: 0, model: options.model },
    held: [],
    usage: undefined,
    wireUsage: undefined,
    usageChunk: undefined,
    error: undefined,
    markerSeen: false,
    closed: false,
  };
  return {
    push: (event) =>
      state.closed || state.markerSeen || state.error ? none : pushFrame(state, event),
    release: () => (state.closed ? none : release(state)),
    fail(error) {
      if (state.closed) return none;
      state.closed = true;
      return [{ data: JSON.stringify(errorChunk({ ...state.fields }, error)) }];
    },
    seen: viewOf({
      usage: () => state.usage,
      text: () => state.text.read(),
      ended: () => state.markerSeen || isFinished(state),
      error: () => state.error,
    }),
  };
}

const isFinished = (state: TapState): boolean => state.finished.size >= state.answers;

function pushFrame(state: TapState, event: SseEvent): readonly SseEvent[] {
  const data = event.data.trim();
  if (data === "") return none;
  if (data === endMarker) {
    state.markerSeen = true;
    return none;
  }
  const chunk = state.reader.read(data);
  if (!chunk) {
    state.error = { message: "The upstream sent a stream frame that is not a JSON object." };
    return none;
  }
  if (event.event === "error" || chunk["error"] || chunk["object"] === "error") {
    state.error = decodeError(200, chunk);
    return none;
  }
  return takeChunk(state, chunk, data);
}

function takeChunk(state: TapState, chunk: WireObject, data: string): readonly SseEvent[] {
  const choices = Array.isArray(chunk["choices"]) ? chunk["choices"] : [];
  const usageTold = takeUsage(state, chunk, choices);
  for (const choice of choices) if (isObject(choice)) takeChoice(state, choice);
  if (state.error) return none;
  if (usageTold && choices.length === 0) {
    // The frame that is there for its usage only: sent last, if the caller wants it.
    state.usageChunk = chunk;
    return none;
  }
  const { id } = chunk;
  if (id !== state.fields.id && typeof id === "string" && id !== "") {
    state.fields = { ...state.fields, id, created: chunk["created"] ?? 0 };
  }
  const frame = { data: state.rewrite(data, chunk) };
  if (!isFinished(state)) return [frame];
  state.held.push(frame);
  return none;
}

/** The last usage told wins (T49). Groq tells it in `x_groq`, Moonshot in the choice. */
function takeUsage(state: TapState, chunk: WireObject, choices: readonly unknown[]): boolean {
  const wire =
    chunk["usage"] ?? objectOf(chunk["x_groq"])["usage"] ?? objectOf(choices[0])["usage"];
  if (!isObject(wire)) return false;
  const usage = readUsage(wire);
  if (usage) {
    state.usage = usage;
    state.wireUsage = wire;
  }
  return true;
}

function takeChoice(state: TapState, choice: WireObject): void {
  const { delta, finish_reason: reason } = choice;
  if (isObject(delta)) {
    for (const text of outputTexts(delta)) state.text.add(text);
    state.calledTools ||= Array.isArray(delta["tool_calls"]) && delta["tool_calls"].length > 0;
  }
  if (nonEmpty(reason) === undefined) return;
  if (reason === "error") {
    state.error = { message: "The upstream ended the answer with an error." };
  }
  state.finished.add(choice["index"] ?? 0);
}

function release(state: TapState): readonly SseEvent[] {
  state.closed = true;
  const frames = state.held;
  state.held = [];
  if (state.finished.size === 0) {
    // The upstream sent its end marker only; clients wait for a finish reason (STREAM-04).
    const reason = state.calledTools ? "tool_calls" : "stop";
    const choices = [{ index: 0, delta: {}, finish_reason: reason }];
    const usage = state.wantsUsage ? { usage: null } : {};
    frames.push({ data: JSON.stringify({ ...state.fields, choices, ...usage }) });
  }
  if (state.wantsUsage && state.wireUsage) {
    const usage = normaliseUsage(state.wireUsage);
    const chunk = state.usageChunk ?? { ...state.fields, choices: [] };
    frames.push({ data: JSON.stringify({ ...chunk, model: state.model, usage }) });
  }
  frames.push({ data: endMarker });
  return frames;
}
