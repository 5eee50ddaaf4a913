/** The blocks of a decoded responses stream: their start, content and end. */
import type { BlockId, CanonicalEvent } from "../canonical/events.ts";
import type { Signature } from "../canonical/request.ts";
import type { WireObject } from "../../base/json.ts";
import { decodeAnnotations } from "../citations.ts";
import { nonEmpty } from "../read.ts";
import type { ResponsesReader } from "./read-stream.ts";
import type { Places } from "./stream-places.ts";

export type Kind = "text" | "refusal" | "reasoning" | "tool_call";

/** A block that has begun. All pieces of a block have one `source`: raw reasoning beside its summary is not read twice (T18). */
interface Block {
  readonly kind: Kind;
  readonly source: string;
  open: boolean;
  hasContent: boolean;
  /** For a reasoning block: the current summary part. For a call: its id. */
  part?: unknown;
  /** True for the first block of a text that has citations. */
  isCited?: true;
}

/** The state of one stream. */
export interface StreamState {
  readonly reader: ResponsesReader;
  readonly places: Places;
  /** The answer's id, once known. */
  id: string;
  started: boolean;
  ended: boolean;
  readonly blocks: Map<BlockId, Block>;
  /** The places of pictures that were emitted. */
  readonly pictures: Set<string>;
  /** By part: the block that continues it, if text came after its end. */
  readonly resumed: Map<BlockId, BlockId>;
  calls: number;
  /** The last message that had text. */
  message: string | undefined;
}

/** Begins a block unless it has begun. */
export function openBlock(
  state: StreamState,
  id: BlockId,
  kind: "text" | "refusal" | "reasoning",
  source: string,
): CanonicalEvent[] {
  if (state.blocks.has(id)) return [];
  state.blocks.set(id, { kind, source, open: true, hasContent: false });
  if (kind === "reasoning" && source.includes("summary"))
    return [{ type: "reasoning_start", block: id, summary: true }];
  return [{ type: `${kind}_start`, block: id }];
}

/** Begins the block of a message's part unless it has begun. `part`: the message and the index of the part. */
export function openPart(
  state: StreamState,
  {
    id,
    part,
    kind,
  }: { readonly id: BlockId; readonly part: BlockId; readonly kind: "text" | "refusal" },
  source: string,
): CanonicalEvent[] {
  const begun = openBlock(state, id, kind, source);
  if (begun.length === 0 || kind !== "text") return begun;
  const before = state.message;
  state.message = part.slice(0, part.lastIndexOf("_"));
  const isNewMessage = before !== undefined && before !== state.message;
  return isNewMessage ? [{ type: "text_start", block: id, newMessage: true }] : begun;
}

/** True if the block has no content yet. */
export const isEmpty = (state: StreamState, id: BlockId): boolean =>
  !state.blocks.get(id)?.hasContent;

/** Adds a piece to an open block. */
export function addContent(state: StreamState, id: BlockId, piece: unknown): CanonicalEvent[] {
  const block = state.blocks.get(id);
  const text = nonEmpty(piece);
  if (!block?.open || text === undefined) return [];
  block.hasContent = true;
  if (block.kind === "tool_call") return [{ type: "tool_call_delta", block: id, arguments: text }];
  return [{ type: `${block.kind}_delta`, block: id, text }];
}

/** Event name prefixes for a call's arguments and a custom tool's input. */
export const callSteps = new Set([
  "response.function_call_arguments",
  "response.custom_tool_call_input",
]);

/** Takes a piece of a call or its end. The end supplies the whole input if no piece came before. */
export function takeCall(
  state: StreamState,
  block: BlockId,
  step: string,
  { delta, arguments: written, input = written }: WireObject,
): CanonicalEvent[] {
  if (step === "delta") return addContent(state, block, delta);
  return step === "done" && isEmpty(state, block) ? addContent(state, block, input) : [];
}

/** Returns the citations of a message's part, if it is a text that has begun. */
export function citationEvents(
  { blocks, resumed }: StreamState,
  part: BlockId,
  annotations: unknown,
): CanonicalEvent[] {
  const begun = blocks.get(part);
  if (begun?.kind !== "text") return [];
  begun.isCited = true;
  const block = resumed.get(part) ?? part;
  return decodeAnnotations(annotations).map((citation) => ({ type: "citation", block, citation }));
}

/** Ends a message's part that was streamed. Some vendors send its annotations only here. */
export function endStreamedPart(
  state: StreamState,
  part: BlockId,
  annotations: unknown,
): CanonicalEvent[] {
  const isCited = state.blocks.get(part)?.isCited === true;
  const cited = isCited ? [] : citationEvents(state, part, annotations);
  return [...cited, ...closeBlock(state, state.resumed.get(part) ?? part)];
}

/** Ends a block if it is open. */
export function closeBlock(
  state: StreamState,
  id: BlockId,
  signature?: Signature,
): CanonicalEvent[] {
  const block = state.blocks.get(id);
  if (!block?.open) return [];
  block.open = false;
  return [{ type: `${block.kind}_end`, block: id, ...(signature ? { signature } : {}) }];
}

/** Ends all open blocks. */
export const closeAll = (state: StreamState): CanonicalEvent[] =>
  [...state.blocks.keys()].flatMap((id) => closeBlock(state, id));

/** Ends all open blocks but calls: a truncated call gets no end event, because its arguments would look complete (T16). */
export const closeTexts = (state: StreamState): CanonicalEvent[] =>
  [...state.blocks].flatMap(([id, { kind }]) =>
    kind === "tool_call" ? [] : closeBlock(state, id),
  );
