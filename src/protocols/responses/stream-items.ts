/**
 * The parts of an encoded responses stream: numbered frames, and items with their parts. encode-stream.ts maps canonical events to them.
 */
import type { SseEvent } from "../../base/sse.ts";
import type { Usage } from "../../base/usage.ts";
import type { BlockId } from "../canonical/events.ts";
import type { Citation, Json, JsonObject, ToolCallPart } from "../canonical/request.ts";
import type { AnswerContext, WireError } from "../codec.ts";
import { streamError } from "../error-object.ts";
import {
  callItem,
  encodeAnnotation,
  messageItem,
  reasoningItem,
  responseObject,
  textPart,
  type Ending,
} from "./encode-response.ts";
import { errorMembers } from "./errors.ts";

/** An item of the answer. A message stays open for more text until another item begins. */
interface Item {
  readonly kind: "message" | "reasoning" | "call" | "custom" | "picture";
  readonly id: string;
  readonly index: number;
  /** The finished parts of a message. */
  readonly content: Json[];
  openParts: number;
  partsBegun: number;
  done: JsonObject | undefined;
}

/** A canonical block, its item, and its text so far. */
export interface Block {
  readonly kind: "output_text" | "refusal" | "reasoning" | "call";
  readonly item: Item;
  readonly part: number;
  readonly call: Pick<ToolCallPart, "id" | "name" | "namespace" | "custom">;
  text: string;
  /** Text blocks only: the number of characters so far. */
  length: number;
  readonly annotations: Json[];
}

export interface StreamState {
  readonly context: AnswerContext;
  sequence: number;
  readonly items: Item[];
  /** Unfinished messages without an open part. A separate set, because an answer may have tens of thousands of other items. */
  readonly idle: Set<Item>;
  readonly blocks: Map<BlockId, Block>;
  /** Finished texts: their citations may come later. */
  readonly texts: Map<BlockId, Block>;
  /** The call that ended, while it is the last item: only the next event tells whether it was cut. */
  lastCall: { readonly item: Item; readonly wire: (status: string) => JsonObject } | undefined;
  usage: Usage | undefined;
  ended: boolean;
}

export const inProgress: Ending = { status: "in_progress", incomplete_details: null, error: null };

export function frame(state: StreamState, type: string, members: JsonObject): SseEvent {
  const data = JSON.stringify({ type, sequence_number: state.sequence, ...members });
  state.sequence += 1;
  return { event: type, data };
}

/** A delta frame; nearly every frame is one, so it is written without an outer object. `members` is JSON text. */
export function deltaFrame(
  state: StreamState,
  type: string,
  { item }: Block,
  members: string,
): SseEvent {
  const place = `"item_id":${JSON.stringify(item.id)},"output_index":${item.index}`;
  const data = `{"type":"${type}","sequence_number":${state.sequence},${place},${members}}`;
  state.sequence += 1;
  return { event: type, data };
}

export function snapshot(state: StreamState, type: string, ending: Ending): SseEvent {
  const output = state.items.flatMap((item) => (item.done ? [item.done] : []));
  const response = responseObject(state.context, ending, output, state.usage);
  return frame(state, type, { response });
}

/** The frames of an error before any answer: SDKs throw at an `error` event, Codex reads only the failed response that follows. */
export const errorBeforeAnswer = (
  state: StreamState,
  error: Pick<WireError, "message" | "code">,
): SseEvent[] =>
  state.sequence > 0
    ? []
    : [
        snapshot(state, "response.created", inProgress),
        frame(state, "error", errorMembers(streamError(error))),
      ];

/** The position of a message's part. */
export const place = ({ item, part }: Block): JsonObject => ({
  item_id: item.id,
  output_index: item.index,
  content_index: part,
});

/** The position of a reasoning item's only part. */
export const summaryPlace = ({ item }: Block): JsonObject => ({
  item_id: item.id,
  output_index: item.index,
  summary_index: 0,
});

const prefixes = {
  message: "msg",
  reasoning: "rs",
  call: "fc",
  custom: "ctc",
  picture: "ig",
} as const;

export function newItem(state: StreamState, kind: Item["kind"]): Item {
  const index = state.items.length;
  const item: Item = {
    kind,
    id: `${prefixes[kind]}_${state.context.id}_${index}`,
    index,
    content: [],
    openParts: 0,
    partsBegun: 0,
    done: undefined,
  };
  state.items.push(item);
  return item;
}

export const itemAdded = (state: StreamState, item: Item, wire: JsonObject): SseEvent =>
  frame(state, "response.output_item.added", { output_index: item.index, item: wire });

export function itemDone(state: StreamState, item: Item, wire: JsonObject): SseEvent {
  item.done = wire;
  return frame(state, "response.output_item.done", { output_index: item.index, item: wire });
}

/** Ends the items that another item follows: messages without an open part, and a call. */
export const endFinishedItems = (state: StreamState): SseEvent[] => [
  ...endIdleMessages(state, "completed"),
  ...endLastCall(state, "completed"),
];

/** Ends the pending call, if there is one. */
export function endLastCall(state: StreamState, status: string): SseEvent[] {
  const { lastCall: call } = state;
  state.lastCall = undefined;
  return call ? [itemDone(state, call.item, call.wire(status))] : [];
}

/** Ends messages without an open part, because another item begins or the answer is over. */
export function endIdleMessages(state: StreamState, status: string): SseEvent[] {
  const idle = [...state.idle].sort((one, other) => one.index - other.index);
  state.idle.clear();
  return idle.map((item) => itemDone(state, item, messageItem(item.id, status, item.content)));
}

/** Encodes a truncated call with the arguments so far. */
export const truncatedCall = ({ item, call, text }: Block): JsonObject =>
  callItem(item.id, { ...call, arguments: text }, "incomplete");

/**
 * Puts items that a failure cut only into the final object. When an item is done, agents run its call, or keep its text for their retry,
 * whatever its status (Codex CLI 0.171).
 */
export function saveTruncatedItems(state: StreamState): void {
  for (const block of state.blocks.values()) {
    const { item, kind, part, text } = block;
    if (kind === "call") item.done = truncatedCall(block);
    else if (kind === "reasoning") item.done = reasoningItem(item.id, text, "incomplete");
    else {
      item.content[part] = encodePart(kind, block);
      state.idle.add(item);
    }
  }
  for (const item of state.idle) item.done = messageItem(item.id, "incomplete", item.content);
  state.blocks.clear();
  state.idle.clear();
}

/** The initial state of a block. */
export const emptyBlock = (): Pick<Block, "call" | "text" | "length" | "annotations"> => ({
  call: { id: "", name: "" },
  text: "",
  length: 0,
  annotations: [],
});

/** Encodes a part of a message. */
export const encodePart = (
  kind: "output_text" | "refusal",
  { text, annotations }: Pick<Block, "text" | "annotations">,
): JsonObject =>
  kind === "output_text" ? textPart(text, annotations) : { type: "refusal", refusal: text };

/** Begins a part of a message: in the last item if that is an unfinished message, otherwise in a new one. */
export function beginPart(
  state: StreamState,
  block: BlockId,
  kind: "output_text" | "refusal",
): SseEvent[] {
  const frames = endLastCall(state, "completed");
  let item = state.items.at(-1);
  if (item?.kind !== "message" || item.done) {
    item = newItem(state, "message");
    frames.push(itemAdded(state, item, messageItem(item.id, "in_progress", [])));
  }
  const begun: Block = { ...emptyBlock(), kind, item, part: item.partsBegun };
  item.partsBegun += 1;
  item.openParts += 1;
  state.idle.delete(item);
  state.blocks.set(block, begun);
  const members = { ...place(begun), part: encodePart(kind, emptyBlock()) };
  frames.push(frame(state, "response.content_part.added", members));
  return frames;
}

/** Encodes a citation of a text block; empty for other blocks. */
export function annotationFrame(
  state: StreamState,
  block: Block | undefined,
  citation: Citation,
): SseEvent[] {
  if (block?.kind !== "output_text") return [];
  const annotation = encodeAnnotation(citation, block.length);
  const members = { ...place(block), annotation_index: block.annotations.length, annotation };
  block.annotations.push(annotation);
  return [frame(state, "response.output_text.annotation.added", members)];
}
