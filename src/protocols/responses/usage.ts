/** Usage as responses upstreams tell it. Requirements: CONV, traps T45, T46, T51, T61. */
import { isObject, type WireObject } from "../../base/json.ts";
import { reportedCount, tokenCount, type Usage } from "../../base/usage.ts";
import type { JsonObject } from "../canonical/request.ts";

const details = (usage: WireObject, key: string): WireObject =>
  isObject(usage[key]) ? usage[key] : {};

/** Reads a `usage` object; undefined when it does not report both sides. An explicit 0 counts as reported (T61). */
export function readUsage(value: unknown): Usage | undefined {
  if (!isObject(value)) return undefined;
  const inputTokens = reportedCount(value["input_tokens"]);
  const outputTokens = reportedCount(value["output_tokens"]);
  if (inputTokens === undefined || outputTokens === undefined) return undefined;
  const input = details(value, "input_tokens_details");
  const output = details(value, "output_tokens_details");
  const cacheReadTokens = Math.min(tokenCount(input["cached_tokens"]), inputTokens);
  const cacheWriteTokens = tokenCount(input["cache_write_tokens"]);
  return {
    inputTokens,
    cacheReadTokens,
    cacheWriteTokens: Math.min(cacheWriteTokens, inputTokens - cacheReadTokens),
    cacheWrite1hTokens: 0,
    outputTokens,
    reasoningTokens: Math.min(tokenCount(output["reasoning_tokens"]), outputTokens),
  };
}

/** Writes canonical usage in the protocol's own names (CONV-802, CONV-806, CONV-810, CONV-814; RESP-53). */
export function writeUsage(usage: Usage): JsonObject {
  return {
    input_tokens: usage.inputTokens,
    input_tokens_details: {
      cached_tokens: usage.cacheReadTokens,
      cache_write_tokens: usage.cacheWriteTokens,
    },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.inputTokens + usage.outputTokens,
  };
}
