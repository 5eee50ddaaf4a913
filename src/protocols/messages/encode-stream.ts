/**
 * The messages stream, written from canonical events. STREAM-03 to STREAM-05.
 * Canonical blocks may interleave; blocks here never overlap. So the block that began first is sent as it comes, and
 * what arrives for others waits until their turn (T5, T6).
 */
import { GatewayError } from "../../base/errors.ts";
import type { SseEvent } from "../../base/sse.ts";
import type { Usage } from "../../base/usage.ts";
import type { BlockId, CanonicalEvent } from "../canonical/events.ts";
import type { ProtocolName, Signature } from "../canonical/request.ts";
import type { Finish } from "../canonical/response.ts";
import { transducer, type AnswerContext, type EndReason, type Transducer } from "../codec.ts";
import { encodeError } from "./errors.ts";
import { answerId, encodeFinish } from "./response.ts";
import { ownSignature, unsignedMark } from "./unsigned.ts";
import { encodeUsage } from "./usage.ts";

type BlockEvent = Extract<CanonicalEvent, { block: BlockId }>;
type BlockEnd = Extract<
  BlockEvent,
  { type: "text_end" | "refusal_end" | "reasoning_end" | "tool_call_end" }
>;

/** A block whose turn has come or will come. */
interface Waiting {
  readonly block: BlockId;
  readonly isReasoning: boolean;
  /** What came for it before its turn. */
  readonly events: readonly BlockEvent[];
  /** Whether its `content_block_start` was sent. */
  readonly isOpen: boolean;
}

interface State {
  readonly context: AnswerContext;
  /** The protocol of the upstream that answers. */
  readonly upstream: ProtocolName;
  readonly isOver: boolean;
  /** The index of the next block to be opened. */
  readonly next: number;
  /** The first is the one being sent. */
  readonly queue: readonly Waiting[];
  readonly usage: Usage | undefined;
}

type Step = [State, SseEvent[]];

/** An encoder of one stream. */
export function encodeStream(context: AnswerContext): Transducer<CanonicalEvent, SseEvent> {
  const initial: State = {
    context,
    upstream: context.request.protocol,
    isOver: false,
    next: 0,
    queue: [],
    usage: undefined,
  };
  return transducer(initial, step, end);
}

const frame = (type: string, fields: object): SseEvent => ({
  event: type,
  data: JSON.stringify({ type, ...fields }),
});

function step(state: State, event: CanonicalEvent): Step {
  if (state.isOver) return [state, []];
  switch (event.type) {
    case "start":
      return [
        { ...state, upstream: event.protocol },
        [messageStart(state.context, event.protocol === "messages" ? event.id : "")],
      ];
    case "usage":
      return [{ ...state, usage: event.usage }, []];
    case "finish":
      return finish(state, event.finish);
    case "error":
      return [{ ...state, isOver: true }, [errorFrame(event.message)]];
    default:
      return take(state, event);
  }
}

/** The input is an estimate until the final event tells the truth (T44). */
function messageStart(context: AnswerContext, upstreamId: string): SseEvent {
  return frame("message_start", {
    message: {
      id: answerId(upstreamId, context),
      type: "message",
      role: "assistant",
      model: context.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: {
        input_tokens: context.inputEstimate,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        output_tokens: 0,
      },
    },
  });
}

function take(state: State, event: BlockEvent): Step {
  const isStart = event.type.endsWith("_start");
  const queue = isStart ? [...state.queue, waitingFor(event)] : state.queue;
  if (queue[0]?.block === event.block)
    return drain(...send(isStart ? { ...state, queue } : state, event));
  const kept = queue.map((waiting) =>
    waiting.block === event.block ? { ...waiting, events: added(waiting.events, event) } : waiting,
  );
  return [{ ...state, queue: kept }, []];
}

const waitingFor = ({ block, type }: BlockEvent): Waiting => ({
  block,
  isReasoning: type === "reasoning_start",
  events: [],
  isOpen: false,
});

/** Deltas that wait are joined: what waits is then bounded by its text, not by the number of its pieces. */
function added(events: readonly BlockEvent[], event: BlockEvent): readonly BlockEvent[] {
  const last = events.at(-1);
  if (last?.type === "tool_call_delta" && event.type === "tool_call_delta") {
    return [...events.slice(0, -1), { ...last, arguments: last.arguments + event.arguments }];
  }
  if (last && "text" in last && "text" in event) {
    return [...events.slice(0, -1), { ...last, text: last.text + event.text }];
  }
  return [...events, event];
}

/** Sends what waited for the first block of the queue; where that ends it, the same for the next. */
function drain(from: State, sent: SseEvent[]): Step {
  if ((from.queue[0]?.events.length ?? 0) === 0) return [from, sent];
  let state = from;
  const frames = [...sent];
  for (let head = state.queue[0]; head && head.events.length > 0; head = state.queue[0]) {
    const [event, ...rest] = head.events;
    const [next, more] = send(withHead(state, { ...head, events: rest }), event!);
    state = next;
    frames.push(...more);
  }
  return [state, frames];
}

const withHead = (state: State, head: Waiting): State => ({
  ...state,
  queue: [head, ...state.queue.slice(1)],
});

/** One event of the block whose turn it is. */
function send(state: State, event: BlockEvent): Step {
  switch (event.type) {
    case "text_start":
    case "refusal_start":
    case "reasoning_start":
      // Opened by its first delta: an empty block would be refused when it is sent back (T25).
      return [state, []];
    case "tool_call_start":
      return open(state, { type: "tool_use", id: event.id, name: event.name, input: {} });
    case "text_delta":
    case "refusal_delta": {
      const [opened, frames] = open(state, { type: "text", text: "" });
      frames.push(delta(opened, { type: "text_delta", text: event.text }));
      return [opened, frames];
    }
    case "reasoning_delta": {
      const [opened, frames] = open(state, { type: "thinking", thinking: "", signature: "" });
      frames.push(delta(opened, { type: "thinking_delta", thinking: event.text }));
      return [opened, frames];
    }
    case "tool_call_delta":
      return [state, [delta(state, { type: "input_json_delta", partial_json: event.arguments })]];
    default:
      return close(state, event);
  }
}

/** Opens the first block of the queue, unless it is open. */
function open(state: State, block: object): Step {
  const head = state.queue[0];
  if (!head || head.isOpen) return [state, []];
  const opened = { ...withHead(state, { ...head, isOpen: true }), next: state.next + 1 };
  return [opened, [frame("content_block_start", { index: state.next, content_block: block })]];
}

/** A delta of the block opened last. Nearly every frame is one: written without an object around it. */
const delta = (state: State, wire: object): SseEvent => ({
  event: "content_block_delta",
  data: `{"type":"content_block_delta","index":${state.next - 1},"delta":${JSON.stringify(wire)}}`,
});

function close(from: State, event: BlockEnd): Step {
  const signature = event.type === "reasoning_end" ? proofOf(from, event.signature) : undefined;
  const [state, frames] = signature ? sign(from, signature) : ([from, []] satisfies Step);
  const head = state.queue[0];
  const rest = { ...state, queue: state.queue.slice(1) };
  if (!head?.isOpen) return [rest, frames];
  return [rest, [...frames, frame("content_block_stop", { index: state.next - 1 })]];
}

/** The signature of the first block of the queue. Thinking that was shown without one gets our mark. */
function proofOf({ queue }: State, signature: Signature | undefined): Signature | undefined {
  const mark = queue[0]?.isOpen ? unsigned : undefined;
  return ownSignature(signature) ?? mark;
}

const unsigned: Signature = { protocol: "messages", value: unsignedMark };

function sign(state: State, { value, redacted }: Signature): Step {
  if (redacted === true) return open(state, { type: "redacted_thinking", data: value });
  const [opened, frames] = open(state, { type: "thinking", thinking: "", signature: "" });
  return [opened, [...frames, delta(opened, { type: "signature_delta", signature: value })]];
}

function finish(from: State, told: Finish): Step {
  const frames: SseEvent[] = [];
  let state = from;
  // Blocks that never ended are closed in their order.
  for (let head = state.queue[0]; head; head = state.queue[0]) {
    const [drained, waited] = drain(state, []);
    const stillOpen = drained.queue[0] === undefined ? undefined : drained.queue[0].block;
    const [closed, closing] =
      stillOpen === head.block
        ? close(drained, {
            type: head.isReasoning ? "reasoning_end" : "text_end",
            block: head.block,
          })
        : ([drained, []] satisfies Step);
    frames.push(...waited, ...closing);
    state = closed;
  }
  const usage = state.usage
    ? encodeUsage(state.usage, state.upstream)
    : { input_tokens: state.context.inputEstimate, output_tokens: 0 };
  frames.push(frame("message_delta", { delta: encodeFinish(told), usage }));
  frames.push(frame("message_stop", {}));
  return [{ ...state, isOver: true }, frames];
}

/** A stream that ends without finish or error was cut: never a normal ending (T16). */
function end(state: State, why: EndReason): SseEvent[] {
  if (state.isOver) return [];
  return [errorFrame(why.kind === "cut" ? why.message : "The stream ended too early.")];
}

function errorFrame(message: string): SseEvent {
  const { error } = encodeError(new GatewayError("upstream_error", message), "");
  return frame("error", { error, request_id: null });
}
