/**
 * The messages stream, read into canonical events. STREAM-03 to STREAM-05; T1 to T8, T16.
 * Vendors of this protocol are many: blocks without a start, whole inputs in the start, starts said twice are all read.
 */
import { isObject, type WireObject } from "../../base/json.ts";
import type { SseEvent } from "../../base/sse.ts";
import type { CanonicalEvent } from "../canonical/events.ts";
import type { Signature } from "../canonical/request.ts";
import { transducer, type EndReason, type Transducer } from "../codec.ts";
import { FrameReader } from "../frame-reader.ts";
import { decodeThinking } from "./blocks.ts";
import { decodeError } from "./errors.ts";
import { decodeFinish } from "./response.ts";
import { decodeUsage, mergeUsage, tellsInput } from "./usage.ts";
import { unsignedMark } from "./unsigned.ts";
import { varying } from "./varying.ts";

interface Block {
  readonly id: string;
  readonly kind: "text" | "reasoning" | "tool_call" | "ignored";
  readonly signature?: Signature | undefined;
  /** The whole input, told in the block's start (T2); sent on only if no delta follows. */
  readonly input?: string | undefined;
}

interface State {
  readonly phase: "waiting" | "running" | "over";
  readonly messageId: unknown;
  /** Open blocks by their wire index. */
  readonly open: ReadonlyMap<unknown, Block>;
  /** How many blocks began: a block's id is its number, because an index may come twice. */
  readonly begun: number;
  readonly hasToolCall: boolean;
  readonly usage: WireObject;
  readonly stop: { readonly reason: string; readonly sequence: unknown } | undefined;
}

type Step = [State, CanonicalEvent[]];

const initial: State = {
  phase: "waiting",
  messageId: undefined,
  open: new Map(),
  begun: 0,
  hasToolCall: false,
  usage: {},
  stop: undefined,
};

/** A decoder of one stream. */
export function decodeStream(): Transducer<SseEvent, CanonicalEvent> {
  const reader = new FrameReader(varying);
  return transducer(
    initial,
    (state, event) => step(state, event, reader),
    end,
    ({ stop, open, begun }) => stop !== undefined && open.size === 0 && begun > 0,
  );
}

function step(state: State, event: SseEvent, reader: FrameReader): Step {
  if (state.phase === "over" || event.data === "[DONE]") return [state, []];
  const data = reader.read(event.data);
  if (!data) return breakOff(state, "The upstream sent a frame that is not JSON.");
  switch (data["type"] ?? event.event) {
    case "message_start":
      return messageStart(state, data);
    case "content_block_start":
      return blockStart(state, data["index"], object(data["content_block"]));
    case "content_block_delta":
      return blockDelta(state, data["index"], object(data["delta"]));
    case "content_block_stop":
      return blockStop(state, data["index"]);
    case "message_delta":
      return messageDelta(state, data);
    case "message_stop":
      return finish(state);
    case "error": {
      const { message, code, type } = decodeError(502, data);
      return breakOff(state, message, code ?? type);
    }
    default:
      return [state, []];
  }
}

const object = (value: unknown): WireObject => (isObject(value) ? value : {});

function messageStart(state: State, data: WireObject): Step {
  const message = object(data["message"]);
  if (state.phase === "running") return secondStart(state, message["id"]);
  const id = typeof message["id"] === "string" ? message["id"] : "";
  const told = object(message["usage"]);
  const { stop_reason: reason, stop_sequence: sequence } = message;
  const started: State = {
    ...state,
    phase: "running",
    messageId: message["id"],
    usage: mergeUsage({}, told),
    stop: typeof reason === "string" ? { reason, sequence } : undefined,
  };
  const events: CanonicalEvent[] = [{ type: "start", protocol: "messages", id, createdAt: 0 }];
  // All zeros is a placeholder of vendors that count at the end (T44).
  if (tellsInput(told)) events.push(...usageEvent(started));
  return wholeBlocks([started, events], message["content"]);
}

/** An answer that was ready before the stream began stands whole in its start. */
function wholeBlocks(from: Step, content: unknown): Step {
  let [state, events] = from;
  for (const [index, block] of (Array.isArray(content) ? content : []).entries()) {
    const [begun, starting] = blockStart(state, `whole-${index}`, object(block));
    const [ended, ending] = blockStop(begun, `whole-${index}`);
    events = [...events, ...starting, ...ending];
    state = ended;
  }
  return [state, events];
}

/** Said twice, a start counts once; in the midst of an answer, what was sent cannot be taken back. */
function secondStart(state: State, id: unknown): Step {
  if (state.begun === 0 || id === state.messageId) return [state, []];
  return breakOff(state, "The upstream began its answer anew in the midst of it.");
}

function blockStart(from: State, index: unknown, wire: WireObject): Step {
  const [state, closing] = blockStop(from, index);
  const id = String(state.begun);
  const { type, text, input } = wire;
  switch (type) {
    case "text":
      return delta(openBlock(state, index, { id, kind: "text" }, closing), index, text);
    case "thinking":
    case "redacted_thinking": {
      const part = decodeThinking(wire);
      const block: Block = { id, kind: "reasoning", signature: part.signature };
      return delta(openBlock(state, index, block, closing), index, part.text);
    }
    case "tool_use": {
      const whole =
        isObject(input) && Object.keys(input).length > 0 ? JSON.stringify(input) : undefined;
      const [next] = openBlock(state, index, { id, kind: "tool_call", input: whole }, closing);
      const start = { id: String(wire["id"]), name: String(wire["name"]) };
      const event: CanonicalEvent = { type: "tool_call_start", block: id, ...start };
      return [{ ...next, hasToolCall: true }, [...closing, event]];
    }
    default:
      return openBlock(state, index, { id, kind: "ignored" }, closing);
  }
}

function openBlock(state: State, index: unknown, block: Block, before: CanonicalEvent[]): Step {
  const open = new Map(state.open).set(index, block);
  const events = [...before];
  if (block.kind === "text" || block.kind === "reasoning") {
    events.push({ type: `${block.kind}_start`, block: block.id });
  }
  return [{ ...state, open, begun: state.begun + 1 }, events];
}

/** Text of an open text or reasoning block, if there is any. */
function delta([state, events]: Step, index: unknown, text: unknown): Step {
  const block = state.open.get(index);
  if (typeof text !== "string" || text === "" || !block) return [state, events];
  if (block.kind !== "text" && block.kind !== "reasoning") return [state, events];
  return [state, [...events, { type: `${block.kind}_delta`, block: block.id, text }]];
}

function blockDelta(state: State, index: unknown, wire: WireObject): Step {
  switch (wire["type"]) {
    case "text_delta":
      return delta(ensureOpen(state, index, "text"), index, wire["text"]);
    case "thinking_delta":
      return delta(ensureOpen(state, index, "reasoning"), index, wire["thinking"]);
    case "signature_delta":
      return signatureDelta(state, index, wire["signature"]);
    case "input_json_delta":
      return inputDelta(state, index, wire["partial_json"]);
    default:
      return [state, []];
  }
}

/** A delta of another kind than its block, or without one, begins a block of its own (T7). */
function ensureOpen(state: State, index: unknown, kind: "text" | "reasoning"): Step {
  const block = state.open.get(index);
  if (block?.kind === kind || block?.kind === "ignored") return [state, []];
  const [closed, closing] = blockStop(state, index);
  return openBlock(closed, index, { id: String(closed.begun), kind }, closing);
}

function signatureDelta(state: State, index: unknown, value: unknown): Step {
  const block = state.open.get(index);
  const proves = typeof value === "string" && value !== "" && value !== unsignedMark;
  if (block?.kind !== "reasoning" || !proves) return [state, []];
  const signed: Block = { ...block, signature: { protocol: "messages", value } };
  return [{ ...state, open: new Map(state.open).set(index, signed) }, []];
}

function inputDelta(state: State, index: unknown, json: unknown): Step {
  const block = state.open.get(index);
  if (block?.kind !== "tool_call" || typeof json !== "string" || json === "") return [state, []];
  const event: CanonicalEvent = { type: "tool_call_delta", block: block.id, arguments: json };
  if (block.input === undefined) return [state, [event]];
  const open = new Map(state.open).set(index, { id: block.id, kind: block.kind });
  return [{ ...state, open }, [event]];
}

function blockStop(state: State, index: unknown): Step {
  const block = state.open.get(index);
  if (!block) return [state, []];
  const open = new Map(state.open);
  open.delete(index);
  return [{ ...state, open }, endEvents(block)];
}

function endEvents({ id, kind, signature, input }: Block): CanonicalEvent[] {
  switch (kind) {
    case "ignored":
      return [];
    case "text":
      return [{ type: "text_end", block: id }];
    case "reasoning":
      return [
        signature
          ? { type: "reasoning_end", block: id, signature }
          : { type: "reasoning_end", block: id },
      ];
    case "tool_call":
      return [
        ...(input === undefined
          ? []
          : [{ type: "tool_call_delta", block: id, arguments: input } as const]),
        { type: "tool_call_end", block: id },
      ];
  }
}

function messageDelta(state: State, data: WireObject): Step {
  const { stop_reason: reason, stop_sequence: sequence } = object(data["delta"]);
  const next: State = {
    ...state,
    usage: mergeUsage(state.usage, object(data["usage"])),
    stop: typeof reason === "string" ? { reason, sequence } : state.stop,
  };
  return [next, isObject(data["usage"]) ? usageEvent(next) : []];
}

function usageEvent(state: State): CanonicalEvent[] {
  const usage = decodeUsage(state.usage);
  return usage ? [{ type: "usage", usage }] : [];
}

const closeAll = (state: State): CanonicalEvent[] => [...state.open.values()].flatMap(endEvents);

const over = (state: State): State => ({ ...state, phase: "over", open: new Map() });

function finish(state: State): Step {
  const { stop, hasToolCall } = state;
  const told = decodeFinish(stop?.reason, stop?.sequence, hasToolCall);
  return [over(state), [...closeAll(state), { type: "finish", finish: told }]];
}

/** A call that was cut has no end: it would look as if its arguments were complete (T16). */
function breakOff(state: State, message: string, code?: string): Step {
  const told = [...state.open.values()].filter(({ kind }) => kind !== "tool_call");
  const event: CanonicalEvent =
    code === undefined ? { type: "error", message } : { type: "error", message, code };
  return [over(state), [...told.flatMap(endEvents), event]];
}

/** A stream without its end marker is complete if it told why it stopped, else broken (T16). */
function end(state: State, why: EndReason): CanonicalEvent[] {
  if (state.phase === "over") return [];
  if (state.phase === "running" && state.stop !== undefined) return finish(state)[1];
  const message = why.kind === "cut" ? why.message : "The upstream's stream ended too early.";
  return breakOff(state, message)[1];
}
