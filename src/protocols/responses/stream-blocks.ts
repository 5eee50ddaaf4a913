/** The blocks of a responses stream that is read: begun, filled and ended. */
import type { BlockId, CanonicalEvent } from "../canonical/events.ts";
import type { Signature } from "../canonical/request.ts";
import type { WireObject } from "../../base/json.ts";
import { decodeAnnotations } from "../citations.ts";
import { nonEmpty } from "../read.ts";
import type { ResponsesReader } from "./read-stream.ts";
import type { Places } from "./stream-places.ts";

export type Kind = "text" | "refusal" | "reasoning" | "tool_call";

/** A block that began. Pieces of one block come under one `source`: raw reasoning beside its summary is not read twice (T18). */
interface Block {
  readonly kind: Kind;
  readonly source: string;
  open: boolean;
  hasContent: boolean;
  /** Of a reasoning block: the summary part that is being sent. Of a call: its id. */
  part?: unknown;
}

/** What was read of one stream so far. */
export interface StreamState {
  readonly reader: ResponsesReader;
  readonly places: Places;
  /** Of the answer, as soon as it is told. */
  id: string;
  started: boolean;
  ended: boolean;
  readonly blocks: Map<BlockId, Block>;
  /** Of a part whose text went on after its end: the block that it goes on in. */
  readonly resumed: Map<BlockId, BlockId>;
  calls: number;
  /** The last message that had a text. */
  message: string | undefined;
}

/** Begins a block, unless it has begun. */
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

/** Begins the block that a part of a message is in, unless it has begun. `part`: its message and its number in there. */
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
  const isApart = before !== undefined && before !== state.message;
  return isApart ? [{ type: "text_start", block: id, apart: true }] : begun;
}

/** Whether nothing of a block came yet. */
export const isEmpty = (state: StreamState, id: BlockId): boolean =>
  !state.blocks.get(id)?.hasContent;

/** A piece of a block that is open. */
export function addContent(state: StreamState, id: BlockId, piece: unknown): CanonicalEvent[] {
  const block = state.blocks.get(id);
  const text = nonEmpty(piece);
  if (!block?.open || text === undefined) return [];
  block.hasContent = true;
  if (block.kind === "tool_call") return [{ type: "tool_call_delta", block: id, arguments: text }];
  return [{ type: `${block.kind}_delta`, block: id, text }];
}

/** What the steps of a call's arguments begin with, or of a custom tool's input. */
export const callSteps = new Set([
  "response.function_call_arguments",
  "response.custom_tool_call_input",
]);

/** A piece of a call, or its end: which gives all of it where no piece came before. */
export function takeCall(
  state: StreamState,
  block: BlockId,
  step: string,
  { delta, arguments: written, input = written }: WireObject,
): CanonicalEvent[] {
  if (step === "delta") return addContent(state, block, delta);
  return step === "done" && isEmpty(state, block) ? addContent(state, block, input) : [];
}

/** What is cited of a text that has begun. */
export const citationEvents = (
  state: StreamState,
  block: BlockId,
  annotations: unknown,
): CanonicalEvent[] =>
  state.blocks.get(block)?.kind === "text"
    ? decodeAnnotations(annotations).map((citation) => ({ type: "citation", block, citation }))
    : [];

/** Ends a block that is open. */
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

/** Ends all that is open. */
export const closeAll = (state: StreamState): CanonicalEvent[] =>
  [...state.blocks.keys()].flatMap((id) => closeBlock(state, id));

/** A call that was cut has no end: it would look as if its arguments were complete (T16). */
export const closeTexts = (state: StreamState): CanonicalEvent[] =>
  [...state.blocks].flatMap(([id, { kind }]) =>
    kind === "tool_call" ? [] : closeBlock(state, id),
  );
