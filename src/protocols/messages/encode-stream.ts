/**
 * Encodes canonical events as a messages stream. STREAM-03 to STREAM-05. Canonical blocks may interleave, but blocks of this protocol never
 * overlap. So the block that began first is sent as it arrives, and events of the others wait for their turn (T5, T6).
 */
import type { SseEvent } from "../../base/sse.ts";
import type { Usage } from "../../base/usage.ts";
import type { BlockId, CanonicalEvent } from "../canonical/events.ts";
import type { Citation, Signature, UpstreamProtocol } from "../canonical/request.ts";
import type { Finish } from "../canonical/response.ts";
import {
  transducer,
  type AnswerContext,
  type EndReason,
  type Transducer,
  type WireError,
} from "../codec.ts";
import { streamError } from "../error-object.ts";
import { encodeCitation } from "./citations.ts";
import { encodeError } from "./errors.ts";
import { frame, messageStart } from "./frame.ts";
import { InputPieces } from "./input-pieces.ts";
import { encodeFinish } from "./response.ts";
import { ownSignature, unsignedMark } from "./unsigned.ts";
import { encodeUsage } from "./usage.ts";

type BlockEvent = Extract<CanonicalEvent, { block: BlockId }>;
type BlockEnd = Extract<
  BlockEvent,
  { type: "text_end" | "refusal_end" | "reasoning_end" | "tool_call_end" }
>;

/** A block that is being sent or waits for its turn. */
interface Waiting {
  readonly block: BlockId;
  readonly isReasoning: boolean;
  /** Events that arrived before its turn. */
  readonly events: BlockEvent[];
  /** True once its `content_block_start` was sent. */
  isOpen: boolean;
  /** Leading white space: sent with the first other text, or not at all. */
  blanks: string;
  /** Calls only. */
  input: InputPieces | undefined;
}

interface State {
  readonly context: AnswerContext;
  /** The upstream's protocol. */
  upstream: UpstreamProtocol;
  isOver: boolean;
  /** The index of the next block to be opened. */
  next: number;
  /** In the order in which they began; the block at `head` is being sent, those before it are finished. */
  readonly queue: (Waiting | undefined)[];
  head: number;
  /** The unfinished blocks, by id: an answer may have tens of thousands. */
  readonly waiting: Map<BlockId, Waiting>;
  /** Citations of texts that were already finished. */
  readonly late: Citation[];
  usage: Usage | undefined;
}

export function encodeStream(context: AnswerContext): Transducer<CanonicalEvent, SseEvent> {
  const state: State = {
    context,
    upstream: context.request.protocol,
    isOver: false,
    next: 0,
    queue: [],
    head: 0,
    waiting: new Map(),
    late: [],
    usage: undefined,
  };
  return transducer(state, takeEvent, end);
}

function takeEvent(state: State, event: CanonicalEvent): SseEvent[] {
  if (state.isOver) return [];
  switch (event.type) {
    case "start":
      state.upstream = event.protocol;
      return [messageStart(state.context, event.protocol === "messages" ? event.id : "")];
    case "media":
      // Answers of this protocol have no media block, whole or streamed.
      return [];
    case "usage":
      state.usage = event.usage;
      return [];
    case "finish":
      return finish(state, event.finish);
    case "error":
      state.isOver = true;
      return [errorFrame(event)];
    default:
      return takeBlock(state, event);
  }
}

const untouched = () => ({ isOpen: false, blanks: "", input: undefined });

/** The block that is being sent. */
const first = ({ queue, head }: State): Waiting | undefined => queue[head];

/** Events of the first block in the queue are sent; those of the others wait. */
function takeBlock(state: State, event: BlockEvent): SseEvent[] {
  const { block, type } = event;
  if (type.endsWith("_start")) {
    const isReasoning = type === "reasoning_start";
    const begun: Waiting = { block, isReasoning, events: [], ...untouched() };
    state.queue.push(begun);
    state.waiting.set(block, begun);
  }
  if (first(state)?.block === block) return drain(state, send(state, event));
  const waiting = state.waiting.get(block);
  if (waiting) addWaiting(waiting.events, event);
  else if (type === "citation") state.late.push(event.citation);
  return [];
}

/** Joins waiting deltas, so that their memory is bounded by the text and not by the number of pieces. A citation goes before the end. */
function addWaiting(events: BlockEvent[], event: BlockEvent): void {
  const last = events.at(-1);
  if (last?.type === "tool_call_delta" && event.type === "tool_call_delta") {
    events[events.length - 1] = { ...last, arguments: last.arguments + event.arguments };
  } else if (last && "text" in last && "text" in event) {
    events[events.length - 1] = { ...last, text: last.text + event.text };
  } else if (last?.type === "text_end") events.splice(-1, 0, event);
  else events.push(event);
}

/** Sends the waiting events of the first block in the queue; if it ends, continues with the next one. */
function drain(state: State, frames: SseEvent[]): SseEvent[] {
  for (let head = first(state); head && head.events.length > 0; head = first(state)) {
    // All at once: removing the first of many takes time in proportion to the rest.
    for (const event of head.events.splice(0)) {
      if (first(state) === head) frames.push(...send(state, event));
    }
  }
  return frames;
}

/** Sends one event of the block whose turn it is. */
function send(state: State, event: BlockEvent): SseEvent[] {
  switch (event.type) {
    case "text_start":
    case "refusal_start":
    case "reasoning_start":
      // The first delta opens the block: the vendor would refuse an empty block in a later request (T25).
      return [];
    case "tool_call_start":
      return open(state, { type: "tool_use", id: event.id, name: event.name, input: {} });
    case "text_delta":
    case "refusal_delta":
      return sendText(state, event.text);
    case "reasoning_delta": {
      const frames = open(state, { type: "thinking", thinking: "", signature: "" });
      frames.push(delta(state, { type: "thinking_delta", thinking: event.text }));
      return frames;
    }
    case "citation":
      // A text without content has no block to cite.
      return first(state)?.isOpen === true ? [cite(state, event.citation)] : [];
    case "tool_call_delta":
      return sendArguments(state, event.arguments);
    default:
      return close(state, event);
  }
}

/**
 * Sends a piece of text. Models that think in chat put a line break before their calls. The vendor refuses a message whose texts are all
 * white space, so such texts of other vendors get no block (T25).
 */
function sendText(state: State, text: string): SseEvent[] {
  const head = first(state);
  if (head && !head.isOpen && state.upstream !== "messages" && text.trim() === "") {
    head.blanks += text;
    return [];
  }
  const whole = head ? head.blanks + text : text;
  if (head) head.blanks = "";
  const frames = open(state, { type: "text", text: "" });
  return [...frames, delta(state, { type: "text_delta", text: whole })];
}

/** Sends a piece of a call's arguments. Without any piece the SDK reads an empty object. */
function sendArguments(state: State, text: string): SseEvent[] {
  const head = first(state);
  if (!head) return [];
  head.input ??= new InputPieces();
  return inputDelta(state, head.input.push(text));
}

const inputDelta = (state: State, json: string): SseEvent[] =>
  json === "" ? [] : [delta(state, { type: "input_json_delta", partial_json: json })];

const cite = (state: State, citation: Citation): SseEvent =>
  delta(state, { type: "citations_delta", citation: encodeCitation(citation) });

/** Sends citations that came too late for their text, on an empty text after everything else. */
function lateCitations(state: State): SseEvent[] {
  if (state.late.length === 0) return [];
  const start = openNext(state, { type: "text", text: "" });
  const cited = state.late.map((citation) => cite(state, citation));
  return [start, ...cited, frame("content_block_stop", { index: state.next - 1 })];
}

/** Opens the first block in the queue unless it is open. */
function open(state: State, block: object): SseEvent[] {
  const head = first(state);
  if (!head || head.isOpen) return [];
  head.isOpen = true;
  return [openNext(state, block)];
}

function openNext(state: State, block: object): SseEvent {
  state.next += 1;
  return frame("content_block_start", { index: state.next - 1, content_block: block });
}

/** A delta of the last opened block. Nearly every frame is one, so it is written without an outer object. */
const delta = (state: State, wire: object): SseEvent => ({
  event: "content_block_delta",
  data: `{"type":"content_block_delta","index":${state.next - 1},"delta":${JSON.stringify(wire)}}`,
});

function close(state: State, event: BlockEnd): SseEvent[] {
  const signature = event.type === "reasoning_end" ? proofOf(state, event.signature) : undefined;
  const frames = signature ? sign(state, signature) : [];
  const head = takeFirst(state);
  if (head?.input) frames.push(...inputDelta(state, head.input.end()));
  if (head?.isOpen) frames.push(frame("content_block_stop", { index: state.next - 1 }));
  return frames;
}

/** Removes the finished first block from the queue. */
function takeFirst(state: State): Waiting | undefined {
  const head = first(state);
  if (head === undefined) return undefined;
  state.queue[state.head] = undefined;
  state.head += 1;
  state.waiting.delete(head.block);
  return head;
}

/** Returns the signature for the first block in the queue. Thinking that was sent without one gets the gateway's mark. */
function proofOf(state: State, signature: Signature | undefined): Signature | undefined {
  const mark = first(state)?.isOpen ? unsigned : undefined;
  return ownSignature(signature) ?? mark;
}

const unsigned: Signature = { protocol: "messages", value: unsignedMark };

function sign(state: State, { value, redacted }: Signature): SseEvent[] {
  if (redacted === true) return open(state, { type: "redacted_thinking", data: value });
  const frames = open(state, { type: "thinking", thinking: "", signature: "" });
  return [...frames, delta(state, { type: "signature_delta", signature: value })];
}

function finish(state: State, finished: Finish): SseEvent[] {
  const frames: SseEvent[] = [];
  // Closes blocks that never ended, in order.
  for (let head = first(state); head; head = first(state)) {
    drain(state, frames);
    const type = head.isReasoning ? "reasoning_end" : "text_end";
    if (first(state) === head) frames.push(...close(state, { type, block: head.block }));
  }
  const cited = lateCitations(state);
  const usage = state.usage
    ? encodeUsage(state.usage, state.upstream)
    : { input_tokens: state.context.inputEstimate, output_tokens: 0 };
  state.isOver = true;
  return [
    ...frames,
    ...cited,
    frame("message_delta", { delta: encodeFinish(finished), usage }),
    frame("message_stop", {}),
  ];
}

/** A stream that ends without finish or error was cut and must not look like a normal ending (T16). */
function end(state: State, why: EndReason): SseEvent[] {
  if (state.isOver) return [];
  const message = why.kind === "cut" ? why.message : "The stream ended too early.";
  return [errorFrame({ message })];
}

function errorFrame(wireError: WireError): SseEvent {
  const { error } = encodeError(streamError(wireError), "");
  return frame("error", { error, request_id: null });
}
