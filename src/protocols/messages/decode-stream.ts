/** Decodes a messages stream into canonical events. STREAM-03 to STREAM-05; T1 to T8, T16. */
import { pushAll } from "../../base/push-all.ts";
import type { WireObject } from "../../base/json.ts";
import type { SseEvent } from "../../base/sse.ts";
import type { CanonicalEvent } from "../canonical/events.ts";
import type { Citation, Signature } from "../canonical/request.ts";
import { transducer, type EndReason, type Transducer, type WireError } from "../codec.ts";
import { nonEmpty } from "../read.ts";
import { MessagesReader, wholeInput, type MessagesDelta } from "./read-stream.ts";
import { decodeCitations } from "./citations.ts";
import { decodeThinking } from "./thinking.ts";
import { decodeFinish, nameOfCall } from "./response.ts";
import { unsignedMark } from "./unsigned.ts";

interface Block {
  readonly id: string;
  readonly kind: "text" | "reasoning" | "tool_call" | "ignored";
  signature?: Signature | undefined;
  /** The whole input from the block's start (T2); emitted only if no delta follows. */
  input?: string | undefined;
  /** Text blocks only: sent at the block's end, because they cover the whole text. */
  readonly citations: Citation[];
}

interface State {
  readonly reader: MessagesReader;
  hasBegun: boolean;
  isOver: boolean;
  answerId: string;
  /** Open blocks by their wire index. */
  readonly open: Map<unknown, Block>;
  /** Number of blocks begun. It is the id of a block, because a wire index may repeat. */
  begun: number;
}

export function decodeStream(): Transducer<SseEvent, CanonicalEvent> {
  const state: State = {
    reader: new MessagesReader(),
    hasBegun: false,
    isOver: false,
    answerId: "",
    open: new Map(),
    begun: 0,
  };
  return {
    ...transducer(
      state,
      takeEvent,
      end,
      ({ reader, open, begun }) => reader.stop !== undefined && open.size === 0 && begun > 0,
    ),
    isOpening: () => state.reader.isOpening,
  };
}

function takeEvent(state: State, event: SseEvent): CanonicalEvent[] {
  const read = state.reader.read(event);
  switch (read.type) {
    case "message_start":
      return messageStart(state, read.message, read.blocks);
    case "content_block_start":
      return [...begin(state), ...blockStart(state, read.index, read.block)];
    case "content_block_delta":
      if (read.kind === "citation") takeCitation(state, read);
      return [...begin(state), ...blockDelta(state, read)];
    case "content_block_stop":
      return blockStop(state, read.index);
    case "message_delta":
      return [...begin(state), ...(read.reportsUsage ? [usageEvent(state)] : [])];
    case "message_stop":
      return [...begin(state), ...finish(state)];
    case "error":
      return breakOff(state, read.error);
    default:
      return [];
  }
}

/** Starts the answer once, even if a vendor omits its start or sends it late. */
function begin(state: State, id: string = ""): CanonicalEvent[] {
  if (state.hasBegun) return [];
  state.hasBegun = true;
  state.answerId = id;
  return [{ type: "start", protocol: "messages", id, createdAt: 0 }];
}

function messageStart(
  state: State,
  message: WireObject,
  blocks: readonly WireObject[],
): CanonicalEvent[] {
  const { stop, usage } = state.reader;
  const events = begin(state, nonEmpty(message["id"]));
  if (usage) events.push(usageEvent(state, stop === undefined));
  for (const [number, block] of blocks.entries()) {
    const index = `whole-${number}`;
    pushAll(events, [...blockStart(state, index, block), ...blockStop(state, index)]);
  }
  return events;
}

function blockStart(state: State, index: unknown, wire: WireObject): CanonicalEvent[] {
  const events = blockStop(state, index);
  switch (wire["type"]) {
    case "text":
      events.push(...openBlock(state, index, "text"), ...delta(state, index, wire["text"]));
      pushAll(state.open.get(index)?.citations ?? [], decodeCitations(wire["citations"]));
      return events;
    case "thinking":
    case "redacted_thinking": {
      const { text, signature } = decodeThinking(wire);
      events.push(...openBlock(state, index, "reasoning", { signature }));
      return [...events, ...delta(state, index, text)];
    }
    case "tool_use": {
      const block = String(state.begun);
      const named = nameOfCall(wire, state.answerId, state.begun);
      openBlock(state, index, "tool_call", { input: wholeInput(wire) });
      events.push({ type: "tool_call_start", block, ...named });
      return events;
    }
    default:
      return [...events, ...openBlock(state, index, "ignored")];
  }
}

function openBlock(
  state: State,
  index: unknown,
  kind: Block["kind"],
  start: Pick<Block, "signature" | "input"> = {},
): CanonicalEvent[] {
  const id = String(state.begun);
  state.begun += 1;
  state.open.set(index, { id, kind, citations: [], ...start });
  return kind === "text" || kind === "reasoning" ? [{ type: `${kind}_start`, block: id }] : [];
}

/** A delta of an open text or reasoning block, if the text is not empty. */
function delta(state: State, index: unknown, text: unknown): CanonicalEvent[] {
  const block = state.open.get(index);
  if (typeof text !== "string" || text === "") return [];
  if (block?.kind !== "text" && block?.kind !== "reasoning") return [];
  return [{ type: `${block.kind}_delta`, block: block.id, text }];
}

function takeCitation(state: State, { index, citation }: MessagesDelta): void {
  state.open.get(index)?.citations.push(...decodeCitations([citation]));
}

function blockDelta(state: State, { index, kind, text }: MessagesDelta): CanonicalEvent[] {
  const block = state.open.get(index);
  if (kind === "text" || kind === "reasoning") {
    if (block?.kind === kind || block?.kind === "ignored") return delta(state, index, text);
    // A delta without a block, or of another kind than its block, begins a new block (T7).
    const events = [...blockStop(state, index), ...openBlock(state, index, kind)];
    return [...events, ...delta(state, index, text)];
  }
  if (text === "") return [];
  if (kind === "tool_call" && block?.kind === "tool_call") {
    block.input = undefined;
    return [{ type: "tool_call_delta", block: block.id, arguments: text }];
  }
  if (kind === "signature" && block?.kind === "reasoning" && text !== unsignedMark)
    block.signature = { protocol: "messages", value: text };
  return [];
}

function blockStop(state: State, index: unknown): CanonicalEvent[] {
  const block = state.open.get(index);
  state.open.delete(index);
  return block ? endEvents(block) : [];
}

function endEvents({ id, kind, signature, input, citations }: Block): CanonicalEvent[] {
  switch (kind) {
    case "ignored":
      return [];
    case "text":
      return [
        ...citations.map((citation) => ({ type: "citation", block: id, citation }) as const),
        { type: "text_end", block: id },
      ];
    case "reasoning":
      return [{ type: "reasoning_end", block: id, ...(signature ? { signature } : {}) }];
    case "tool_call": {
      const end: CanonicalEvent = { type: "tool_call_end", block: id };
      return input === undefined
        ? [end]
        : [{ type: "tool_call_delta", block: id, arguments: input }, end];
    }
  }
}

const usageEvent = (
  { reader: { usage } }: State,
  coversStartOnly: boolean = false,
): CanonicalEvent => ({ type: "usage", usage, ...(coversStartOnly ? { coversStartOnly } : {}) });

/** Closes all open blocks, except those of one kind. */
function closeAll(state: State, except?: Block["kind"]): CanonicalEvent[] {
  const blocks = [...state.open.values()].filter(({ kind }) => kind !== except);
  state.open.clear();
  return blocks.flatMap(endEvents);
}

function finish(state: State): CanonicalEvent[] {
  const { stop, hasToolCall } = state.reader;
  state.isOver = true;
  const finish = decodeFinish(stop, hasToolCall);
  return [...closeAll(state), { type: "finish", finish }];
}

/** A truncated call gets no end event: its arguments would look complete (T16). */
function breakOff(state: State, { message, code, type }: WireError): CanonicalEvent[] {
  state.isOver = true;
  const name = code ?? type;
  const event: CanonicalEvent =
    name === undefined ? { type: "error", message } : { type: "error", message, code: name };
  return [...closeAll(state, "tool_call"), event];
}

/** A stream without its end marker is complete if it gave a stop reason, otherwise broken (T16). */
function end(state: State, why: EndReason): CanonicalEvent[] {
  if (state.isOver) return [];
  if (state.hasBegun && state.reader.stop !== undefined) return finish(state);
  const broken = "The upstream's stream ended too early.";
  return breakOff(state, { message: why.kind === "cut" ? why.message : broken });
}
