/** Assigns each piece of a chat stream's tool calls to its call, even if the vendor omits ids, indexes or names. Traps T2 to T6, T21. */
import type { BlockId, CanonicalEvent } from "../canonical/events.ts";
import { callId, isServerCall } from "../call-id.ts";
import type { CallPiece } from "./output.ts";

interface Call {
  /** Its position among the calls. */
  readonly place: number;
  readonly block: BlockId;
  /** The upstream's id; undefined until it arrives. */
  wireId: string | undefined;
  /** "" until the name arrives: a block cannot begin without it. */
  name: string;
  isCustom: boolean;
  /** Arguments that arrived before the name. */
  waiting: string;
  /** All arguments so far. */
  said: string;
}

/** The calls of one stream, in the order in which they began. */
export interface ToolCalls {
  readonly calls: Call[];
  /** By the vendor's `index`, if sent. */
  readonly byIndex: Map<unknown, Call>;
  /** By the vendor's id; the first of several. */
  readonly byId: Map<string, Call>;
  /** True if the calls that the vendor's servers made count too. */
  readonly hasServerCalls: boolean;
}

export const noToolCalls = (hasServerCalls: boolean): ToolCalls => ({
  calls: [],
  byIndex: new Map(),
  byId: new Map(),
  hasServerCalls,
});

/** Takes one item of `delta.tool_calls`. `answerId` is the stream's id, used for calls without an id. */
export function takeCallPiece(
  state: ToolCalls,
  piece: CallPiece,
  answerId: string,
): CanonicalEvent[] {
  const { index, id, name, text } = piece;
  const call = findCall(state, piece) ?? addCall(state, index);
  call.wireId ??= id;
  if (id !== undefined && call.wireId === id && !state.byId.has(id)) state.byId.set(id, call);
  if (isLeftOut(state, call)) return [];
  call.isCustom ||= piece.isCustom;
  if (repeatsAll(call, text)) return [];
  call.said += text;
  if (call.name !== "")
    return text === "" ? [] : [{ type: "tool_call_delta", block: call.block, arguments: text }];
  call.waiting += text;
  if (name === undefined) return [];
  call.name = name;
  return beginCall(state, call, answerId);
}

/**
 * True if a piece repeats all arguments of its call: GLM's and other local servers send them once more at the end. A text after an
 * object would never be JSON. The piece is looked at first, because the text so far is a chain of pieces, slow to read.
 */
const repeatsAll = ({ said, isCustom }: Call, text: string): boolean =>
  !isCustom &&
  text.length === said.length &&
  text.startsWith("{") &&
  text.endsWith("}") &&
  text === said;

/** The calls of a stream so far, as far as their pieces need them. */
interface KnownCalls<Known> {
  readonly calls: readonly Known[];
  readonly byIndex: ReadonlyMap<unknown, Known>;
  readonly byId: ReadonlyMap<string, Known>;
}

/**
 * Returns the call that a piece continues; undefined if it begins one. A new id with a name begins a call even at a used index: some
 * vendors number every call 0 (T5). An id alone continues the call with that id, or else the one at its index: some vendors send a new id
 * with every piece. A piece with neither continues the last call, unless its index is that of another.
 */
export function findCall<Known extends Pick<Call, "wireId">>(
  { calls, byIndex, byId }: KnownCalls<Known>,
  { index, id, name }: Pick<CallPiece, "index" | "id" | "name">,
): Known | undefined {
  const call = typeof index === "number" ? byIndex.get(index) : undefined;
  if (call && (id === undefined || call.wireId === undefined || call.wireId === id)) return call;
  if (id === undefined) return name === undefined ? calls.at(-1) : undefined;
  const named = byId.get(id);
  // Some vendors number the pieces of one call.
  if (typeof index === "number" && !call && name !== undefined) return undefined;
  return named ?? (name === undefined ? call : undefined);
}

function addCall({ calls, byIndex }: ToolCalls, index: unknown): Call {
  const call: Call = {
    place: calls.length,
    block: `tool_${calls.length}`,
    wireId: undefined,
    name: "",
    isCustom: false,
    waiting: "",
    said: "",
  };
  calls.push(call);
  if (typeof index === "number") byIndex.set(index, call);
  return call;
}

function beginCall({ byId }: ToolCalls, call: Call, answerId: string): CanonicalEvent[] {
  const { place, block, name, waiting, wireId } = call;
  // LocalAI gives all calls of an answer one id. Clients match results by it.
  const id = wireId !== undefined && byId.get(wireId) === call ? wireId : callId(answerId, place);
  const kind = call.isCustom ? ({ custom: true } as const) : {};
  const start: CanonicalEvent = { type: "tool_call_start", block, id, name, ...kind };
  if (waiting === "") return [start];
  call.waiting = "";
  return [start, { type: "tool_call_delta", block, arguments: waiting }];
}

const isLeftOut = ({ hasServerCalls }: ToolCalls, { wireId }: Call): boolean =>
  !hasServerCalls && isServerCall(wireId);

/** True if the caller has to make a call. */
export const hasOwnCalls = ({ calls }: ToolCalls): boolean =>
  calls.some(({ wireId }) => !isServerCall(wireId));

/** Ends all calls, once. A call that never got a name still begins, so that its arguments are not lost. */
export function endCalls(state: ToolCalls, answerId: string): CanonicalEvent[] {
  return state.calls.flatMap((call) => {
    if (isLeftOut(state, call)) return [];
    const begun = call.name === "" ? beginCall(state, call, answerId) : [];
    return [...begun, { type: "tool_call_end", block: call.block }];
  });
}
