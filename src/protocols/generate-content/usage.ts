/**
 * Usage of the generateContent protocol, which tells output without thoughts.
 * CONV-804, CONV-808, CONV-812, CONV-816, CONV-819.
 */
import { isObject, type WireObject } from "../../base/json.ts";
import { reportedCount, tokenCount, type Usage } from "../../base/usage.ts";
import type { JsonObject } from "../canonical/request.ts";

const countFields = [
  "promptTokenCount",
  "candidatesTokenCount",
  "thoughtsTokenCount",
  "toolUsePromptTokenCount",
  "cachedContentTokenCount",
  "totalTokenCount",
] as const;

/** The counts reported so far; they are cumulative, so of each the last value reported wins (T46, T49). */
export function mergeUsage(earlier: WireObject, later: unknown): WireObject {
  if (!isObject(later)) return earlier;
  const told = countFields.filter((field) => typeof later[field] === "number");
  if (told.length === 0) return earlier;
  return { ...earlier, ...Object.fromEntries(told.map((field) => [field, later[field]])) };
}

/**
 * The normalised usage of a `usageMetadata`; undefined where it does not tell the prompt (T48), or holds what is no count (T51):
 * what it comes to is then estimated. Tokens of tool results the vendor fetched itself are billed as input. Any other count of 0
 * may be left out.
 */
export function decodeUsage(wire: unknown): Usage | undefined {
  if (!isObject(wire) || reportedCount(wire["promptTokenCount"]) === undefined) return undefined;
  const isNone = (value: unknown): boolean =>
    typeof value === "number" && reportedCount(value) === undefined;
  if (countFields.some((field) => isNone(wire[field]))) return undefined;
  const inputTokens =
    tokenCount(wire["promptTokenCount"]) + tokenCount(wire["toolUsePromptTokenCount"]);
  const reasoningTokens = tokenCount(wire["thoughtsTokenCount"]);
  const rest = Math.max(0, tokenCount(wire["totalTokenCount"]) - inputTokens - reasoningTokens);
  return {
    inputTokens,
    cacheReadTokens: Math.min(tokenCount(wire["cachedContentTokenCount"]), inputTokens),
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    outputTokens: tokenCount(wire["candidatesTokenCount"], rest) + reasoningTokens,
    reasoningTokens,
  };
}

/** The `usageMetadata` of a normalised usage: reasoning taken out of the output again. */
export function encodeUsage(usage: Usage): JsonObject {
  const { inputTokens, outputTokens, reasoningTokens, cacheReadTokens } = usage;
  const wire: JsonObject = {
    promptTokenCount: inputTokens,
    candidatesTokenCount: Math.max(0, outputTokens - reasoningTokens),
    totalTokenCount: inputTokens + outputTokens,
  };
  if (reasoningTokens > 0) wire["thoughtsTokenCount"] = reasoningTokens;
  if (cacheReadTokens > 0) wire["cachedContentTokenCount"] = cacheReadTokens;
  return wire;
}
