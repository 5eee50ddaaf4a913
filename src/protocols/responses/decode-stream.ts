/**
 * Decodes responses streams into canonical events. Requirements: STREAM, traps T10 to T13, T16, T18, T45. The item's place identifies its
 * blocks (stream-places.ts).
 */
import { pushAll } from "../../base/push-all.ts";
import { isObject, type WireObject } from "../../base/json.ts";
import type { SseEvent } from "../../base/sse.ts";
import { tokenCount } from "../../base/usage.ts";
import type { BlockId, CanonicalEvent } from "../canonical/events.ts";
import type { MediaPart, Part } from "../canonical/request.ts";
import { transducer, type EndReason, type Transducer, type WireError } from "../codec.ts";
import { callId } from "../call-id.ts";
import { withinOf } from "../function-tools.ts";
import { nonEmpty, objects, lookUp } from "../read.ts";
import { ResponsesReader, type ResponseEvent, type StepEvent } from "./read-stream.ts";
import { decodeFinish, decodeItem, idOfCall, isCall } from "./response.ts";
import { Places } from "./stream-places.ts";
import {
  addContent,
  callSteps,
  citationEvents,
  closeAll,
  closeBlock,
  closeTexts,
  endStreamedPart,
  isEmpty,
  openBlock,
  openPart,
  takeCall,
  type Kind,
  type StreamState,
} from "./stream-blocks.ts";

export function decodeStream(): Transducer<SseEvent, CanonicalEvent> {
  const initial: StreamState = {
    reader: new ResponsesReader(),
    places: new Places(),
    id: "",
    started: false,
    ended: false,
    blocks: new Map(),
    pictures: new Set(),
    resumed: new Map(),
    calls: 0,
    message: undefined,
  };
  const { reader } = initial;
  return { ...transducer(initial, takeEvent, endStream), isOpening: () => reader.isOpening };
}

function takeEvent(state: StreamState, event: SseEvent): CanonicalEvent[] {
  if (state.ended) return [];
  const read = state.reader.read(event);
  if (read.type === "response") return takeResponse(state, read);
  // At once: not every vendor closes its stream after an error.
  if (read.type === "error") return breakOff(state, read.error);
  return read.type === "step" ? [...begin(state, "", 0), ...takeStep(state, read)] : [];
}

function begin(state: StreamState, id: string, createdAt: number): CanonicalEvent[] {
  if (state.started) return [];
  state.started = true;
  state.id = id;
  return [{ type: "start", protocol: "responses", id, createdAt }];
}

const textKinds: Readonly<Record<string, "text" | "refusal" | "reasoning">> = {
  "response.output_text": "text",
  // OpenRouter's documents name the pieces of a text so.
  "response.content_part": "text",
  "response.refusal": "refusal",
  "response.reasoning_summary_text": "reasoning",
  "response.reasoning_summary": "reasoning",
  // Raw reasoning: OpenAI's name, and that of Open Responses.
  "response.reasoning_text": "reasoning",
  "response.reasoning": "reasoning",
};

function takeStep(state: StreamState, { name, frame }: StepEvent): CanonicalEvent[] {
  const index = state.places.of(name, frame);
  const { item } = frame;
  if (name === "response.output_item.added")
    return isObject(item) && isCall(item["type"]) ? beginCall(state, index, item) : [];
  if (name === "response.output_item.done") return takeItemEnd(state, index, item);
  if (name === "response.output_text.annotation.added")
    return citationEvents(state, blockId(index, frame["content_index"]), [frame["annotation"]]);
  const at = name.lastIndexOf(".");
  const [stem, step] = [name.slice(0, at), name.slice(at + 1)];
  if (callSteps.has(stem)) return takeCall(state, `tool_${index}`, step, frame);
  const kind = lookUp(textKinds, stem);
  if (!kind || (step !== "delta" && step !== "done")) return [];
  const isDone = step === "done";
  const text = nonEmpty(isDone ? (frame["text"] ?? frame["refusal"]) : frame["delta"]) ?? "";
  return kind === "reasoning"
    ? takeReasoning(state, { id: `reasoning_${index}`, source: stem, isDone, text }, frame)
    : takeText(state, { id: blockId(index, frame["content_index"]), kind, isDone, text });
}

interface TextStep {
  readonly id: BlockId;
  readonly isDone: boolean;
  readonly text: string;
}

/**
 * Takes a piece of text or its end. The end supplies the whole text if no piece came before. A piece after the end continues in a new
 * block.
 */
function takeText(
  state: StreamState,
  { id: part, kind, isDone, text }: TextStep & { readonly kind: "text" | "refusal" },
): CanonicalEvent[] {
  const id = currentBlock(state, part, !isDone && text !== "");
  const isNew = text !== "" && (!isDone || isEmpty(state, id));
  const events = isNew
    ? [...openPart(state, { id, part, kind }, kind), ...addContent(state, id, text)]
    : [];
  return isDone ? [...events, ...closeBlock(state, id)] : events;
}

/** Returns the current block of a part; a new one if a piece comes after the part's end. */
function currentBlock(state: StreamState, part: BlockId, isPiece: boolean): BlockId {
  const last = state.resumed.get(part) ?? part;
  if (!isPiece || state.blocks.get(last)?.open !== false) return last;
  const id = `${part}_${state.blocks.size}_more`;
  state.resumed.set(part, id);
  return id;
}

/**
 * The same for reasoning. A reasoning item is one block, even if its summary has several parts: its encryption comes only with the item's
 * end.
 */
function takeReasoning(
  state: StreamState,
  { id: item, source, isDone, text }: TextStep & { readonly source: string },
  frame: WireObject,
): CanonicalEvent[] {
  const before = state.blocks.get(state.resumed.get(item) ?? item);
  if (text === "" || (before && before.source !== source)) return [];
  const id = currentBlock(state, item, !isDone);
  const known = state.blocks.get(id);
  const part = frame["summary_index"] ?? frame["content_index"] ?? 0;
  const isNextPart = known !== undefined && known.part !== part;
  if (isDone && known?.hasContent && !isNextPart) return [];
  const events = openBlock(state, id, "reasoning", source);
  if (isNextPart) events.push(...addContent(state, id, "\n\n"));
  events.push(...addContent(state, id, text));
  state.blocks.get(id)!.part = part;
  return events;
}

const blockId = (index: string, contentIndex: unknown): BlockId =>
  `content_${index}_${tokenCount(contentIndex)}`;

function beginCall(state: StreamState, index: string, item: WireObject): CanonicalEvent[] {
  const block = `tool_${index}`;
  if (state.blocks.has(block)) return [];
  const id = idOfCall(item, callId(state.id, index));
  const begun = { kind: "tool_call", source: "item", open: true, hasContent: false } as const;
  state.blocks.set(block, { ...begun, part: id });
  state.calls += 1;
  const kind = item["type"] === "custom_tool_call" ? ({ custom: true } as const) : {};
  const name = nonEmpty(item["name"]) ?? "";
  return [{ type: "tool_call_start", block, id, name, ...withinOf(item), ...kind }];
}

/** Takes a whole item: ends its blocks, and emits content that never came in pieces (T11, T12). */
function takeItemEnd(state: StreamState, index: string, item: unknown): CanonicalEvent[] {
  if (!isObject(item)) return [];
  const events: CanonicalEvent[] = [];
  if (item["type"] === "message") {
    for (const [at, part] of objects(item["content"]).entries()) {
      const kind = part["type"] === "refusal" ? "refusal" : "text";
      pushAll(events, takeWholePart(state, blockId(index, at), kind, part));
    }
    return events;
  }
  for (const part of decodeItem(item, "")) events.push(...endPart(state, index, item, part));
  return events;
}

function endPart(
  state: StreamState,
  index: string,
  item: WireObject,
  part: Part,
): CanonicalEvent[] {
  const block = part.type === "tool_call" ? `tool_${index}` : `reasoning_${index}`;
  if (part.type === "tool_call") {
    const begun = beginCall(state, index, item);
    const added = isEmpty(state, block) ? addContent(state, block, part.arguments) : [];
    return [...begun, ...added, ...closeBlock(state, block)];
  }
  if (part.type === "media") return takeMedia(state, `media_${index}`, part);
  if (part.type !== "reasoning") return [];
  const source = part.summary ? "response.reasoning_summary_text" : "response.reasoning_text";
  const isBlank = part.text === "" && !part.signature;
  const begun = isBlank ? [] : openBlock(state, block, "reasoning", source);
  const added = isEmpty(state, block) ? addContent(state, block, part.text) : [];
  return [...begun, ...added, ...closeBlock(state, block, part.signature)];
}

/** Emits a picture once. */
function takeMedia(state: StreamState, id: BlockId, part: MediaPart): CanonicalEvent[] {
  if (state.pictures.has(id)) return [];
  state.pictures.add(id);
  return [{ type: "media", part }];
}

function takeWholePart(
  state: StreamState,
  id: BlockId,
  kind: "text" | "refusal",
  part: WireObject,
): CanonicalEvent[] {
  const text = part["text"] ?? part["refusal"];
  if (state.blocks.has(id) || nonEmpty(text) === undefined)
    return endStreamedPart(state, id, part["annotations"]);
  return [
    ...openPart(state, { id, part: id, kind }, "item"),
    ...addContent(state, id, text),
    ...citationEvents(state, id, part["annotations"]),
    ...closeBlock(state, id),
  ];
}

function takeResponse(
  state: StreamState,
  { name, response, isLast, error }: ResponseEvent,
): CanonicalEvent[] {
  const id = nonEmpty(response["id"]) ?? "";
  const events = begin(state, id, tokenCount(response["created_at"]));
  if (!isLast) return events;
  state.ended = true;
  pushAll(events, missingOutput(state, objects(response["output"]), error === undefined));
  pushAll(events, error ? closeTexts(state) : closeAll(state));
  const { usage } = state.reader;
  if (usage) events.push({ type: "usage", usage });
  if (error) return [...events, ...breakOff(state, error)];
  // Not every vendor repeats the event's status in the object.
  const ended = name === "response.incomplete" ? { ...response, status: "incomplete" } : response;
  return [...events, { type: "finish", finish: decodeFinish(ended, state.calls > 0) }];
}

/**
 * Emits content that only the terminal event has. Some upstreams send everything there; others the text after streamed reasoning, or the
 * arguments of a started call. Ids and places may change, so if any item of a kind was streamed, all of that kind count as streamed.
 */
function missingOutput(
  state: StreamState,
  output: readonly WireObject[],
  isWhole: boolean,
): CanonicalEvent[] {
  const begun = [...state.blocks];
  // If two items share an id, the first counts. The map avoids a quadratic search: a vendor may send any number of items and blocks.
  const calls = new Map<unknown, WireObject>(
    output.toReversed().map((item) => [idOfCall(item, ""), item]),
  );
  const events = begun.flatMap(([block, { kind, hasContent, part }]) => {
    if (kind !== "tool_call" || hasContent) return [];
    const { arguments: written, input = written } = calls.get(part) ?? {};
    return addContent(state, block, input);
  });
  const streamedTypes = new Set(begun.map(([, { kind }]) => itemTypeOf[kind]));
  if (state.pictures.size > 0) streamedTypes.add("image_generation_call");
  if (streamedTypes.size > 0 && !isWhole) return events;
  let hasClosed = false;
  for (const [index, item] of output.entries()) {
    const type = isCall(item["type"]) ? itemTypeOf.tool_call : String(item["type"]);
    if (streamedTypes.has(type)) continue;
    // Once: the items below end their own blocks.
    if (!hasClosed) pushAll(events, closeAll(state));
    hasClosed = true;
    const place = streamedTypes.size === 0 ? String(index) : `last_${index}`;
    pushAll(events, takeItemEnd(state, place, item));
  }
  return events;
}

/** The item type of each kind of block. */
const itemTypeOf: Readonly<Record<Kind, string>> = {
  text: "message",
  refusal: "message",
  reasoning: "reasoning",
  tool_call: "function_call",
};

function breakOff(state: StreamState, { message, type, code = type }: WireError): CanonicalEvent[] {
  state.ended = true;
  const error = { type: "error", message, ...(code === undefined ? {} : { code }) } as const;
  return [...closeTexts(state), error];
}

/** Without a terminal event the answer broke off, even if it looks complete (T16). */
function endStream(state: StreamState, why: EndReason): CanonicalEvent[] {
  if (state.ended) return [];
  const broken = "The upstream's stream ended without its terminal event.";
  return breakOff(state, { message: why.kind === "cut" ? why.message : broken });
}
