/**
 * Decodes a ConverseStream into canonical events. The binary frames are already events: the frame's type is the event's name
 * (upstream/vendors/bedrock-stream.ts). Text blocks have no start frame; usage comes after the end.
 */
import type { WireObject } from "../../base/json.ts";
import type { SseEvent } from "../../base/sse.ts";
import type { CanonicalEvent } from "../canonical/events.ts";
import type { Citation } from "../canonical/request.ts";
import { transducer, type EndReason, type Transducer } from "../codec.ts";
import { nonEmpty, objectOf, parseObject } from "../read.ts";
import {
  decodeCitation,
  decodeFinish,
  isServerToolUse,
  nameOfCall,
  pictureOf,
} from "./response.ts";
import { decodeUsage } from "./usage.ts";

type Kind = "text" | "reasoning" | "tool_call" | "picture";

interface Block {
  readonly id: string;
  readonly kind: Kind;
  /** Text blocks only: sent at the block's end, because they cover the whole text. */
  readonly citations: Citation[];
  /** Picture blocks only: a picture is sent whole. */
  readonly format: unknown;
  readonly pieces: Buffer[];
}

interface State {
  hasBegun: boolean;
  isOver: boolean;
  /** Open blocks by their wire index. */
  readonly open: Map<unknown, Block>;
  /** Number of blocks begun; the id of a block is its number. */
  begun: number;
  hasToolCall: boolean;
  stop: { readonly reason: unknown } | undefined;
}

export function decodeStream(): Transducer<SseEvent, CanonicalEvent> {
  const state: State = {
    hasBegun: false,
    isOver: false,
    open: new Map(),
    begun: 0,
    hasToolCall: false,
    stop: undefined,
  };
  // An error ending is reported only when the stream closes.
  const isWhole = ({ stop }: State): boolean =>
    stop !== undefined && decodeFinish(stop.reason, false).reason !== "error";
  return transducer(state, takeEvent, end, isWhole);
}

function takeEvent(state: State, { event = "", data }: SseEvent): CanonicalEvent[] {
  if (state.isOver) return [];
  const wire = parseObject(data);
  if (!wire) return breakOff(state, "The upstream sent a stream frame that is not a JSON object.");
  if (event === "error") {
    const { message, type } = objectOf(wire["error"]);
    return breakOff(state, nonEmpty(message) ?? "The upstream broke off.", nonEmpty(type));
  }
  // An exception may follow. Until the answer has begun, the gateway can still fail over.
  if (event === "messageStart") return [];
  const began = begin(state);
  switch (event) {
    case "contentBlockStart":
      return [...began, ...blockStart(state, wire)];
    case "contentBlockDelta":
      return [...began, ...blockDelta(state, wire)];
    case "contentBlockStop":
      return [...began, ...blockStop(state, wire["contentBlockIndex"])];
    case "messageStop":
      state.stop = { reason: wire["stopReason"] };
      return [...began, ...closeAll(state)];
    case "metadata":
      return [...began, ...metadata(state, wire)];
    default:
      return began;
  }
}

function begin(state: State): CanonicalEvent[] {
  if (state.hasBegun) return [];
  state.hasBegun = true;
  return [{ type: "start", protocol: "converse", id: "", createdAt: 0 }];
}

function blockStart(state: State, wire: WireObject): CanonicalEvent[] {
  const { contentBlockIndex: index, start } = wire;
  const { toolUse, image } = objectOf(start);
  if (image !== undefined) {
    const ended = blockStop(state, index);
    openBlock(state, index, "picture", objectOf(image)["format"]);
    return ended;
  }
  if (toolUse === undefined || isServerToolUse(objectOf(toolUse))) return [];
  const events = blockStop(state, index);
  const named = nameOfCall(objectOf(toolUse), state.begun);
  const { id: block } = openBlock(state, index, "tool_call");
  state.hasToolCall = true;
  return [...events, { type: "tool_call_start", block, ...named }];
}

function openBlock(state: State, index: unknown, kind: Kind, format?: unknown): Block {
  const block: Block = { id: String(state.begun), kind, citations: [], format, pieces: [] };
  state.begun += 1;
  state.open.set(index, block);
  return block;
}

function blockDelta(state: State, wire: WireObject): CanonicalEvent[] {
  const { contentBlockIndex: index } = wire;
  const { text, toolUse, reasoningContent, citation, image } = objectOf(wire["delta"]);
  if (toolUse !== undefined) {
    const { input } = objectOf(toolUse);
    const block = state.open.get(index);
    if (block?.kind !== "tool_call" || typeof input !== "string" || input === "") return [];
    return [{ type: "tool_call_delta", block: block.id, arguments: input }];
  }
  if (citation !== undefined) {
    const block = state.open.get(index);
    if (block?.kind === "text") block.citations.push(...decodeCitation(objectOf(citation)));
    return [];
  }
  if (image !== undefined) {
    addPicture(state, index, objectOf(image));
    return [];
  }
  // Signatures and redacted reasoning are left out, as in a whole answer.
  return typeof text === "string"
    ? textDelta(state, index, "text", text)
    : textDelta(state, index, "reasoning", objectOf(reasoningContent)["text"]);
}

/** Each piece is base64 on its own. */
function addPicture(state: State, index: unknown, { source }: WireObject): void {
  const known = state.open.get(index);
  const block = known?.kind === "picture" ? known : openBlock(state, index, "picture");
  const data = nonEmpty(objectOf(source)["bytes"]);
  if (data !== undefined) block.pieces.push(Buffer.from(data, "base64"));
}

/** A text block begins with its first piece. */
function textDelta(
  state: State,
  index: unknown,
  kind: "text" | "reasoning",
  text: unknown,
): CanonicalEvent[] {
  if (typeof text !== "string" || text === "") return [];
  const known = state.open.get(index);
  if (known?.kind === kind) return [{ type: `${kind}_delta`, block: known.id, text }];
  const events = blockStop(state, index);
  const { id } = openBlock(state, index, kind);
  return [
    ...events,
    { type: `${kind}_start`, block: id },
    { type: `${kind}_delta`, block: id, text },
  ];
}

function blockStop(state: State, index: unknown): CanonicalEvent[] {
  const block = state.open.get(index);
  state.open.delete(index);
  return block ? endEvents(block) : [];
}

function endEvents({ id, kind, citations, format, pieces }: Block): CanonicalEvent[] {
  if (kind === "picture") {
    const data = Buffer.concat(pieces).toString("base64");
    return data === "" ? [] : [{ type: "media", part: pictureOf(format, data) }];
  }
  return [
    ...citations.map((citation) => ({ type: "citation", block: id, citation }) as const),
    { type: `${kind}_end`, block: id },
  ];
}

/** Closes all open blocks, or only those of these kinds. */
function closeAll(state: State, kinds?: readonly Kind[]): CanonicalEvent[] {
  const blocks = [...state.open.values()].filter(({ kind }) => kinds?.includes(kind) !== false);
  state.open.clear();
  return blocks.flatMap(endEvents);
}

/** The last frame, with the usage. */
function metadata(state: State, wire: WireObject): CanonicalEvent[] {
  const usage = decodeUsage(wire["usage"]);
  return [
    ...(usage ? [{ type: "usage", usage } as const] : []),
    ...(state.stop ? finish(state) : []),
  ];
}

function finish(state: State): CanonicalEvent[] {
  state.isOver = true;
  const told = decodeFinish(state.stop?.reason, state.hasToolCall);
  return [...closeAll(state), { type: "finish", finish: told }];
}

/** A truncated call gets no end event, and a truncated picture is not sent: they would look complete (T16). */
function breakOff(state: State, message: string, code?: string): CanonicalEvent[] {
  state.isOver = true;
  const error: CanonicalEvent =
    code === undefined ? { type: "error", message } : { type: "error", message, code };
  return [...closeAll(state, ["text", "reasoning"]), error];
}

/** A stream without its last frame is complete if it gave a stop reason, otherwise broken (T16). */
function end(state: State, why: EndReason): CanonicalEvent[] {
  if (state.isOver) return [];
  if (state.stop) return finish(state);
  return breakOff(
    state,
    why.kind === "cut" ? why.message : "The upstream's stream ended too early.",
  );
}
