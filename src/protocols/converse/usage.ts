/** Usage of Converse, which reports input without cache reads and writes. */
import { isObject } from "../../base/json.ts";
import { reportedCount, tokenCount, type Usage } from "../../base/usage.ts";
import type { JsonObject } from "../canonical/request.ts";
import { objects } from "../read.ts";

/** Normalises a wire `usage` object; undefined if one side is missing or invalid (T48, T51). Reasoning is not reported separately. */
export function decodeUsage(wire: unknown): Usage | undefined {
  if (!isObject(wire)) return undefined;
  const inputTokens = reportedCount(wire["inputTokens"]);
  const outputTokens = reportedCount(wire["outputTokens"]);
  if (inputTokens === undefined || outputTokens === undefined) return undefined;
  const written = (ttl: string): number =>
    objects(wire["cacheDetails"])
      .filter((detail) => detail["ttl"] === ttl)
      .reduce((sum, detail) => sum + tokenCount(detail["inputTokens"]), 0);
  const written1h = written("1h");
  const cacheReadTokens = tokenCount(wire["cacheReadInputTokens"]);
  const cacheWriteTokens = tokenCount(wire["cacheWriteInputTokens"], written("5m") + written1h);
  return {
    inputTokens: inputTokens + cacheReadTokens + cacheWriteTokens,
    cacheReadTokens,
    cacheWriteTokens,
    cacheWrite1hTokens: Math.min(written1h, cacheWriteTokens),
    outputTokens,
    reasoningTokens: 0,
  };
}

/** Encodes a normalised usage as a wire `usage` object. */
export function encodeUsage(usage: Usage): JsonObject {
  const { cacheReadTokens, cacheWriteTokens, cacheWrite1hTokens, inputTokens, outputTokens } =
    usage;
  return {
    inputTokens: Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens),
    outputTokens,
    totalTokens: inputTokens + outputTokens,
    cacheReadInputTokens: cacheReadTokens,
    cacheWriteInputTokens: cacheWriteTokens,
    cacheDetails: [
      { ttl: "1h", inputTokens: cacheWrite1hTokens },
      { ttl: "5m", inputTokens: Math.max(0, cacheWriteTokens - cacheWrite1hTokens) },
    ].filter((detail) => detail.inputTokens > 0),
  };
}
