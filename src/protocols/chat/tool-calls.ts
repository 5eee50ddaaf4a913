/**
 * Tool calls of a chat stream: which call a piece belongs to, whatever a vendor leaves out of it. Traps T2 to T6, T21.
 */
import type { BlockId, CanonicalEvent } from "../canonical/events.ts";
import { callId } from "../call-id.ts";
import type { CallPiece } from "./output.ts";

interface Call {
  readonly block: BlockId;
  /** The id the upstream gave; undefined until it gives one. */
  wireId: string | undefined;
  /** "" until the name arrives: a block cannot begin without one. */
  name: string;
  isCustom: boolean;
  /** Arguments that arrived before the name. */
  waiting: string;
}

/** Calls of one stream, in the order they began. */
export interface ToolCalls {
  readonly calls: Call[];
  /** The vendor's `index` of a call, where it tells one. */
  readonly byIndex: Map<unknown, Call>;
}

export const noToolCalls = (): ToolCalls => ({ calls: [], byIndex: new Map() });

/** Takes one item of `delta.tool_calls`; `answerId` is the stream's own id, for calls without one. */
export function takeCallPiece(
  state: ToolCalls,
  piece: CallPiece,
  answerId: string,
): CanonicalEvent[] {
  const { index, id, name, text } = piece;
  let call = findCall(state, piece);
  if (!call) {
    if (id === undefined && name === undefined && state.calls.length > 0)
      call = state.calls.at(-1)!;
    else call = addCall(state, index);
  }
  call.wireId ??= id;
  call.isCustom ||= piece.isCustom;
  if (call.name !== "")
    return text === "" ? [] : [{ type: "tool_call_delta", block: call.block, arguments: text }];
  call.waiting += text;
  if (name === undefined) return [];
  call.name = name;
  return beginCall(state, call, answerId);
}

/**
 * The call a piece continues; undefined when it begins one. A new id with a name begins a call even at an index in
 * use: some vendors number every call 0 (T5). An id alone goes on with the call that has it, else with the index's: others send
 * a fresh one with every piece.
 */
function findCall({ calls, byIndex }: ToolCalls, { index, id, name }: CallPiece): Call | undefined {
  if (typeof index === "number") {
    const call = byIndex.get(index);
    if (!call || id === undefined || call.wireId === undefined || call.wireId === id) return call;
    const own = calls.find((other) => other.wireId === id);
    return own ?? (name === undefined ? call : undefined);
  }
  if (id !== undefined) return calls.find((call) => call.wireId === id);
  return name === undefined ? calls.at(-1) : undefined;
}

function addCall({ calls, byIndex }: ToolCalls, index: unknown): Call {
  const call: Call = {
    block: `tool_${calls.length}`,
    wireId: undefined,
    name: "",
    isCustom: false,
    waiting: "",
  };
  calls.push(call);
  if (typeof index === "number") byIndex.set(index, call);
  return call;
}

function beginCall({ calls }: ToolCalls, call: Call, answerId: string): CanonicalEvent[] {
  const { block, name, waiting } = call;
  const id = call.wireId ?? callId(answerId, calls.indexOf(call));
  const kind = call.isCustom ? ({ custom: true } as const) : {};
  const start: CanonicalEvent = { type: "tool_call_start", block, id, name, ...kind };
  if (waiting === "") return [start];
  call.waiting = "";
  return [start, { type: "tool_call_delta", block, arguments: waiting }];
}

/** Ends all calls, once. One that never got a name begins without: its arguments are not lost. */
export function endCalls(state: ToolCalls, answerId: string): CanonicalEvent[] {
  return state.calls.flatMap((call) => {
    const begun = call.name === "" ? beginCall(state, call, answerId) : [];
    return [...begun, { type: "tool_call_end", block: call.block }];
  });
}
