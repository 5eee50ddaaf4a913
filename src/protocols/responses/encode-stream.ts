/**
 * Encodes canonical events as a responses stream: the full sequence of named, numbered events, with start and end of every item and part.
 * STREAM-03 to STREAM-07; T12, T13, T16. The `finish` event writes the terminal event and `[DONE]`.
 */
import type { SseEvent } from "../../base/sse.ts";
import type { BlockId, CanonicalEvent } from "../canonical/events.ts";
import type { JsonObject, MediaPart, Signature } from "../canonical/request.ts";
import { transducer, type AnswerContext, type EndReason, type Transducer } from "../codec.ts";
import { characters } from "../citations.ts";
import { explanationEvents } from "../explained.ts";
import {
  callItem,
  encryptedOf,
  endingOf,
  failedEnding,
  linkText,
  pictureItem,
  reasoningItem,
  type Ending,
} from "./encode-response.ts";
import {
  annotationFrame,
  beginPart,
  truncatedCall,
  deltaFrame,
  frame,
  inProgress,
  itemAdded,
  itemDone,
  saveTruncatedItems,
  newItem,
  emptyBlock,
  place,
  endFinishedItems,
  endLastCall,
  errorBeforeAnswer,
  endIdleMessages,
  snapshot,
  encodePart,
  summaryPlace,
  type Block,
  type StreamState,
} from "./stream-items.ts";

export function encodeStream(context: AnswerContext): Transducer<CanonicalEvent, SseEvent> {
  const initial: StreamState = {
    context,
    sequence: 0,
    items: [],
    idle: new Set(),
    blocks: new Map(),
    texts: new Map(),
    lastCall: undefined,
    usage: undefined,
    ended: false,
  };
  return transducer(initial, takeEvent, endStream);
}

function takeEvent(state: StreamState, event: CanonicalEvent): SseEvent[] {
  if (state.ended) return [];
  switch (event.type) {
    case "start":
      return [
        snapshot(state, "response.created", inProgress),
        snapshot(state, "response.in_progress", inProgress),
      ];
    case "media":
      return addPicture(state, event.part);
    case "usage":
      state.usage = event.usage;
      return [];
    case "finish":
      return [
        ...explanationEvents(event.finish).flatMap((said) => takeEvent(state, said)),
        ...finish(state, endingOf(event.finish)),
      ];
    case "error":
      return [...errorBeforeAnswer(state, event), ...finish(state, failedEnding(event))];
    default:
      return takeBlock(state, event);
  }
}

function takeBlock(state: StreamState, event: BlockEvent): SseEvent[] {
  switch (event.type) {
    case "reasoning_start":
    case "refusal_start":
    case "text_start":
    case "tool_call_start":
      return begin(state, event);
    case "citation":
      return annotationFrame(
        state,
        state.blocks.get(event.block) ?? state.texts.get(event.block),
        event.citation,
      );
    case "tool_call_delta":
      return addArguments(state, event.block, event.arguments);
    case "text_delta":
    case "refusal_delta":
    case "reasoning_delta":
      return addText(state, event);
    default:
      return endBlock(state, event);
  }
}

type BlockEvent = Extract<CanonicalEvent, { block: BlockId }>;
type StartEvent = Extract<CanonicalEvent, { type: `${string}_start` }>;

/**
 * A text item begins with its first piece, a reasoning item also with its encryption. Empty blocks and reasoning with only another vendor's
 * signature become no item.
 */
function begin(state: StreamState, event: StartEvent): SseEvent[] {
  if (event.type === "text_start") return event.newMessage ? endFinishedItems(state) : [];
  if (event.type !== "tool_call_start") return [];
  const { block, id, name, namespace, custom } = event;
  const frames = endFinishedItems(state);
  const item = newItem(state, custom ? "custom" : "call");
  const call = { id, name, namespace, custom };
  state.blocks.set(block, { ...emptyBlock(), kind: "call", item, part: 0, call });
  const wire = callItem(item.id, { ...call, arguments: "" }, "in_progress");
  return [...frames, itemAdded(state, item, wire)];
}

function beginReasoning(state: StreamState, block: BlockId): SseEvent[] {
  if (state.blocks.has(block)) return [];
  const frames = endFinishedItems(state);
  const item = newItem(state, "reasoning");
  state.blocks.set(block, { ...emptyBlock(), kind: "reasoning", item, part: 0 });
  return [...frames, itemAdded(state, item, reasoningItem(item.id, "", "in_progress"))];
}

/** A picture becomes a separate item, a link to one a message. Audio and video are left out. */
function addPicture(state: StreamState, { media, source }: MediaPart): SseEvent[] {
  if (source.kind !== "base64") {
    const block = `link ${state.items.length}`;
    return [
      ...addText(state, { type: "text_delta", block, text: linkText(source) }),
      ...endBlock(state, { type: "text_end", block }),
    ];
  }
  if (media !== "image") return [];
  const frames = endFinishedItems(state);
  const item = newItem(state, "picture");
  const wire = pictureItem(item.id, source);
  frames.push(itemAdded(state, item, { ...wire, status: "in_progress", result: null }));
  return [...frames, itemDone(state, item, wire)];
}

type TextEvent = Extract<
  CanonicalEvent,
  { type: "text_delta" | "refusal_delta" | "reasoning_delta" }
>;

function beginText(state: StreamState, { type, block }: TextEvent): SseEvent[] {
  if (state.blocks.has(block)) return [];
  if (type === "reasoning_delta") return beginReasoning(state, block);
  return beginPart(state, block, type === "text_delta" ? "output_text" : "refusal");
}

function addText(state: StreamState, event: TextEvent): SseEvent[] {
  const frames = beginText(state, event);
  const block = state.blocks.get(event.block);
  if (!block) return [];
  const delta = event.text;
  const text = JSON.stringify(delta);
  if (event.type === "reasoning_delta") {
    if (block.text === "") {
      const part = { type: "summary_text", text: "" };
      const members = { ...summaryPlace(block), part };
      frames.push(frame(state, "response.reasoning_summary_part.added", members));
    }
    const members = `"summary_index":0,"delta":${text}`;
    frames.push(deltaFrame(state, "response.reasoning_summary_text.delta", block, members));
  } else if (event.type === "text_delta") {
    const members = `"content_index":${block.part},"delta":${text},"logprobs":[]`;
    frames.push(deltaFrame(state, "response.output_text.delta", block, members));
    block.length += characters(delta);
  } else {
    const members = `"content_index":${block.part},"delta":${text}`;
    frames.push(deltaFrame(state, "response.refusal.delta", block, members));
  }
  block.text += delta;
  return frames;
}

function addArguments(state: StreamState, id: BlockId, delta: string): SseEvent[] {
  const block = state.blocks.get(id);
  if (!block) return [];
  block.text += delta;
  const members = `"delta":${JSON.stringify(delta)}`;
  return [deltaFrame(state, `${callSteps(block)}.delta`, block, members)];
}

const callSteps = ({ call }: Block): string =>
  call.custom ? "response.custom_tool_call_input" : "response.function_call_arguments";

type EndEvent = Extract<CanonicalEvent, { type: `${string}_end` }>;

function endBlock(state: StreamState, event: EndEvent): SseEvent[] {
  const isProven = event.type === "reasoning_end" && encryptedOf(event.signature) !== undefined;
  const begun = isProven ? beginReasoning(state, event.block) : [];
  const block = state.blocks.get(event.block);
  if (!block) return [];
  state.blocks.delete(event.block);
  switch (event.type) {
    case "reasoning_end":
      return [...begun, ...endReasoning(state, block, event.signature)];
    case "tool_call_end":
      return endCall(state, event.block, block);
    default:
      if (block.kind === "output_text") state.texts.set(event.block, block);
      return endPart(state, block);
  }
}

function endPart(state: StreamState, block: Block): SseEvent[] {
  const { item, kind, text } = block;
  if (kind !== "output_text" && kind !== "refusal") return [];
  const part = encodePart(kind, block);
  item.content[block.part] = part;
  item.openParts -= 1;
  if (item.openParts === 0) state.idle.add(item);
  const content: JsonObject = kind === "output_text" ? { text, logprobs: [] } : { refusal: text };
  const frames = [
    frame(state, `response.${kind}.done`, { ...place(block), ...content }),
    frame(state, "response.content_part.done", { ...place(block), part }),
  ];
  // Another item began while this part was open, so its message ends with it.
  return item === state.items.at(-1) ? frames : [...frames, ...endIdleMessages(state, "completed")];
}

function endReasoning(
  state: StreamState,
  block: Block,
  signature: Signature | undefined,
): SseEvent[] {
  const frames: SseEvent[] = [];
  const { item, text } = block;
  if (text !== "") {
    const part = { type: "summary_text", text };
    frames.push(
      frame(state, "response.reasoning_summary_text.done", { ...summaryPlace(block), text }),
      frame(state, "response.reasoning_summary_part.done", { ...summaryPlace(block), part }),
    );
  }
  const done = reasoningItem(item.id, text, "completed", encryptedOf(signature));
  return [...frames, itemDone(state, item, done)];
}

function endCall(state: StreamState, id: BlockId, block: Block): SseEvent[] {
  const frames: SseEvent[] = [];
  const { item, call } = block;
  if (block.text === "" && !call.custom) {
    // A call without arguments gets an empty object; clients join the pieces.
    state.blocks.set(id, block);
    frames.push(...addArguments(state, id, "{}"));
    state.blocks.delete(id);
  }
  const { text } = block;
  const said: JsonObject = call.custom ? { input: text } : { name: call.name, arguments: text };
  const members = { item_id: item.id, output_index: item.index, ...said };
  frames.push(frame(state, `${callSteps(block)}.done`, members));
  const wire = (status: string): JsonObject =>
    callItem(item.id, { ...call, arguments: text }, status);
  if (item !== state.items.at(-1)) return [...frames, itemDone(state, item, wire("completed"))];
  state.lastCall = { item, wire };
  return frames;
}

/** Sends the terminal event with the whole object, and the end marker. Open blocks are sent as far as they arrived. */
function finish(state: StreamState, ending: Ending): SseEvent[] {
  const isWhole = ending.status === "completed";
  const frames: SseEvent[] = [];
  if (state.sequence === 0) frames.push(snapshot(state, "response.created", inProgress));
  if (ending.status === "failed") saveTruncatedItems(state);
  for (const [id, block] of state.blocks) frames.push(...breakOff(state, id, block));
  frames.push(...endIdleMessages(state, isWhole ? "completed" : "incomplete"));
  // Only the last item can be cut.
  frames.push(...endLastCall(state, ending.status === "incomplete" ? "incomplete" : "completed"));
  state.ended = true;
  frames.push(snapshot(state, `response.${ending.status}`, ending), { data: "[DONE]" });
  return frames;
}

function breakOff(state: StreamState, id: BlockId, block: Block): SseEvent[] {
  state.blocks.delete(id);
  if (block.kind === "reasoning") return endReasoning(state, block, undefined);
  if (block.kind !== "call") return endPart(state, block);
  return [itemDone(state, block.item, truncatedCall(block))];
}

function endStream(state: StreamState, why: EndReason): SseEvent[] {
  if (state.ended) return [];
  const message = why.kind === "cut" ? why.message : "The upstream's answer broke off.";
  return finish(state, failedEnding({ message }));
}
