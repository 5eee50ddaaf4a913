/** Holds back blocks that must be rewritten as a whole: pieces may be cut anywhere, so they are sent together when the block ends. */
import type { BlockId, CanonicalEvent } from "./canonical/events.ts";
import type { Transducer } from "./codec.ts";

type Rewrite = (text: string) => string;

/** Returns the function that rewrites a text or a call's arguments; undefined for blocks that pass as they arrive. */
export type RewriteOf = (
  start: Extract<CanonicalEvent, { type: "text_start" | "tool_call_start" }>,
) => Rewrite | undefined;

/** Wraps a decoder and rewrites its texts and arguments with `rewriteOf`. */
export function bufferBlocks<In>(
  decoder: Transducer<In, CanonicalEvent>,
  rewriteOf: RewriteOf,
): Transducer<In, CanonicalEvent> {
  const held = new Map<BlockId, { readonly rewrite: Rewrite; text: string }>();
  const take = (event: CanonicalEvent): CanonicalEvent[] => {
    if (event.type === "text_start" || event.type === "tool_call_start") {
      const rewrite = rewriteOf(event);
      if (rewrite) held.set(event.block, { rewrite, text: "" });
      return [event];
    }
    const block = "block" in event ? held.get(event.block) : undefined;
    if (!block) return [event];
    if (event.type === "text_delta" || event.type === "tool_call_delta") {
      block.text += event.type === "text_delta" ? event.text : event.arguments;
      return [];
    }
    if (event.type !== "text_end" && event.type !== "tool_call_end") return [event];
    held.delete(event.block);
    return block.text === "" ? [event] : [wholeDelta(event, block.rewrite(block.text)), event];
  };
  return {
    push: (input) => decoder.push(input).flatMap(take),
    end: (why) => decoder.end(why).flatMap(take),
    ending: () => decoder.ending?.() === true,
    isOpening: () => decoder.isOpening?.() === true,
    held: () => `${[...held.values()].map(({ text }) => text).join("")}${decoder.held?.() ?? ""}`,
  };
}

/** Wraps a decoder and applies `map` to its events. */
export const mapEvents = <In>(
  decoder: Transducer<In, CanonicalEvent>,
  map: (event: CanonicalEvent) => CanonicalEvent,
): Transducer<In, CanonicalEvent> => ({
  push: (input) => decoder.push(input).map(map),
  end: (why) => decoder.end(why).map(map),
  ending: () => decoder.ending?.() === true,
  isOpening: () => decoder.isOpening?.() === true,
  held: () => decoder.held?.() ?? "",
});

const wholeDelta = (
  { type, block }: Extract<CanonicalEvent, { type: "text_end" | "tool_call_end" }>,
  text: string,
): CanonicalEvent =>
  type === "text_end"
    ? { type: "text_delta", block, text }
    : { type: "tool_call_delta", block, arguments: text };
