/**
 * The legal order of canonical events: start, then blocks, which may interleave, then one finish or error. Each block has a
 * start, deltas (text also citations) and an end. Media and usage may come at any time. No block is open at a finish; at an error
 * a tool call may be open, because its arguments were cut. The streams of every codec are checked against it.
 */
import type { BlockId, CanonicalEvent } from "../../src/protocols/canonical/events.ts";

type Kind = "text" | "refusal" | "reasoning" | "tool_call";

interface State {
  started: boolean;
  ended: boolean;
  /** Every block that ever began, and whether it is still open. */
  readonly blocks: Map<BlockId, { readonly kind: Kind; open: boolean }>;
  readonly faults: string[];
}

/** The faults in the order of a whole stream; empty if it is legal. One sentence per fault, with the event's index. */
export function grammarFaults(events: readonly CanonicalEvent[]): string[] {
  const state: State = { started: false, ended: false, blocks: new Map(), faults: [] };
  for (const [index, event] of events.entries()) {
    const fault = faultOf(state, event);
    if (fault !== undefined) state.faults.push(`event ${index} (${event.type}): ${fault}`);
  }
  if (!state.ended) state.faults.push("the stream has neither finish nor error");
  return state.faults;
}

function faultOf(state: State, event: CanonicalEvent): string | undefined {
  if (state.ended) return "after the end";
  if (event.type === "start") {
    if (state.started) return "a second start";
    state.started = true;
    return undefined;
  }
  // An upstream may fail before it begins an answer.
  if (event.type === "error") {
    state.ended = true;
    return openBlocks(state, (kind) => kind !== "tool_call");
  }
  if (!state.started) return "before start";
  if (event.type === "usage" || event.type === "media") return undefined;
  if (event.type === "finish") {
    state.ended = true;
    return openBlocks(state);
  }
  return blockFault(state, event);
}

function openBlocks(
  state: State,
  counts: (kind: Kind) => boolean = () => true,
): string | undefined {
  const open = [...state.blocks]
    .filter(([, block]) => block.open && counts(block.kind))
    .map(([id]) => id);
  return open.length > 0 ? `blocks still open: ${open.join(", ")}` : undefined;
}

function blockFault(
  state: State,
  event: Extract<CanonicalEvent, { block: BlockId }>,
): string | undefined {
  const at = event.type.lastIndexOf("_");
  // A citation belongs to an open text block.
  const kind = event.type === "citation" ? "text" : (event.type.slice(0, at) as Kind);
  const known = state.blocks.get(event.block);
  if (event.type.endsWith("_start")) {
    if (known) return `block ${event.block} began twice`;
    state.blocks.set(event.block, { kind, open: true });
    return undefined;
  }
  if (!known) return `block ${event.block} never began`;
  if (!known.open) return `block ${event.block} has ended`;
  if (known.kind !== kind) return `block ${event.block} is ${known.kind}, not ${kind}`;
  if (event.type.endsWith("_end")) known.open = false;
  return undefined;
}
