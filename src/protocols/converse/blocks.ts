/** Content blocks of Converse, written from canonical parts. Each block has one member, which says what it is. */
import type { CacheBreakpoint, JsonObject, Part, ToolResultPart } from "../canonical/request.ts";
import { argumentsObject } from "../tool-arguments.ts";
import { cachePoint } from "./cache-point.ts";
import { encodeMedia } from "./media.ts";

/** How many documents a request has so far. */
export interface Numbering {
  documents: number;
}

/** The blocks of parts. What the protocol cannot carry is left out; `fit` has noted it. */
export function encodeContent(parts: readonly Part[], numbering: Numbering): JsonObject[] {
  return parts.flatMap((part) => {
    const block = encodePart(part, numbering);
    if (!block) return [];
    return [block, ...cachePoint(cacheOf(part))];
  });
}

/** A result has no cache points within it: the one in it stands behind it. */
function cacheOf(part: Part): CacheBreakpoint | undefined {
  if (!("content" in part)) return "cache" in part ? part.cache : undefined;
  return part.cache ?? part.content.map(cacheOf).find((cache) => cache !== undefined);
}

function encodePart(part: Part, numbering: Numbering): JsonObject | undefined {
  switch (part.type) {
    case "text":
    case "refusal":
      // The vendor refuses texts of blanks (T25).
      return part.text.trim() === "" ? undefined : { text: part.text };
    case "media":
      return encodeMedia(part, () => (numbering.documents += 1));
    case "tool_call": {
      const input = argumentsObject(part.arguments);
      return { toolUse: { toolUseId: toolId(part.id), name: part.name, input } };
    }
    case "tool_result":
      return encodeToolResult(part, numbering);
    case "reasoning":
      // Proof of it never reaches a caller, so none comes back.
      return undefined;
  }
}

/** The vendor takes letters, digits, "_" and "-" only; call and result are changed alike. */
const toolId = (id: string): string => id.replace(/[^a-zA-Z0-9_-]/g, "_");

function encodeToolResult(
  { callId, content, isError }: ToolResultPart,
  numbering: Numbering,
): JsonObject {
  const result: JsonObject = {
    toolUseId: toolId(callId),
    content: content.flatMap((part) => encodePart(part, numbering) ?? []),
  };
  if (isError === true) result["status"] = "error";
  return { toolResult: result };
}
