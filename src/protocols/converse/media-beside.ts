/** Moves media out of tool results, for models that refuse it there. It stands beside them, with its origin. T27. */
import type { Message, Part, ToolResultPart } from "../canonical/request.ts";
import type { MediaKind } from "../limits.ts";

/** Returns the turn with media of these kinds directly after its results. */
export function withMediaBeside(message: Message, kinds: readonly MediaKind[]): Message {
  const isMoved = (part: Part): boolean => part.type === "media" && kinds.includes(part.media);
  const holdsMoved = (part: Part): part is ToolResultPart =>
    part.type === "tool_result" && part.content.some(isMoved);
  if (!message.content.some(holdsMoved)) return message;
  const moved = message.content
    .filter(holdsMoved)
    .flatMap((result): Part[] => [
      { type: "text", text: `Returned by tool call ${result.callId}:` },
      ...result.content.filter(isMoved),
    ]);
  const rest = message.content.map((part) =>
    holdsMoved(part) ? { ...part, content: part.content.filter((one) => !isMoved(one)) } : part,
  );
  // The codec puts results first.
  return { ...message, content: [...moved, ...rest] };
}
