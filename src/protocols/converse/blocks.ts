/** Encodes canonical parts as content blocks of Converse. Each block has one member, which names its kind. */
import type { CacheBreakpoint, JsonObject, Part, ToolResultPart } from "../canonical/request.ts";
import { argumentsObject } from "../tool-arguments.ts";
import { placeholderText } from "../tidy.ts";
import { cachePoint } from "./cache-point.ts";
import { encodeMedia } from "./media.ts";

/** Counts the documents of a request so far. */
export interface Numbering {
  documents: number;
}

/** Encodes parts as blocks. Parts that the protocol cannot carry are left out; `fit` has noted them. */
export function encodeContent(parts: readonly Part[], numbering: Numbering): JsonObject[] {
  return parts.flatMap((part) => {
    const block = encodePart(part, numbering);
    if (!block) return [];
    return [block, ...cachePoint(cacheOf(part))];
  });
}

/** The cache marker of a part. A tool result cannot hold cache points, so a marker inside it applies after it. */
function cacheOf(part: Part): CacheBreakpoint | undefined {
  if (!("content" in part)) return "cache" in part ? part.cache : undefined;
  return part.cache ?? part.content.map(cacheOf).find((cache) => cache !== undefined);
}

function encodePart(part: Part, numbering: Numbering): JsonObject | undefined {
  switch (part.type) {
    case "text":
    case "refusal":
      // The vendor refuses blank texts (T25).
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
      // The gateway never sends this vendor's signatures to callers, so none comes back.
      return undefined;
  }
}

/** The vendor accepts only letters, digits, "_" and "-"; call and result get the same id. */
const toolId = (id: string): string => id.replace(/[^a-zA-Z0-9_-]/g, "_");

function encodeToolResult(
  { callId, content, isError }: ToolResultPart,
  numbering: Numbering,
): JsonObject {
  const blocks = content.flatMap((part) => encodePart(part, numbering) ?? []);
  const result: JsonObject = {
    toolUseId: toolId(callId),
    // The vendor refuses an empty result that is an error, and some of its models any empty result (T25).
    content: blocks.length > 0 ? blocks : [{ text: placeholderText }],
  };
  if (isError === true) result["status"] = "error";
  return { toolResult: result };
}
