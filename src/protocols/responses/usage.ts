/** Usage of responses upstreams. Requirements: CONV, traps T45, T46, T50, T51, T61. */
import { isObject } from "../../base/json.ts";
import { reportedCount, tokenCount, type Usage } from "../../base/usage.ts";
import type { JsonObject } from "../canonical/request.ts";
import { completeFromTotal } from "../complete-from-total.ts";
import { objectOf, objects } from "../read.ts";

/** Reads a `usage` object; undefined if it does not report both sides. An explicit 0 counts as reported (T61). */
export function readUsage(value: unknown): Usage | undefined {
  if (!isObject(value)) return undefined;
  const input = reportedCount(value["input_tokens"]);
  const output = reportedCount(value["output_tokens"]);
  if (input === undefined || output === undefined) return undefined;
  const inputDetails = objectOf(value["input_tokens_details"]);
  const cacheRead = tokenCount(inputDetails["cached_tokens"]);
  const reasoning = tokenCount(objectOf(value["output_tokens_details"])["reasoning_tokens"]);
  const total = reportedCount(value["total_tokens"]);
  const cacheWrite = tokenCount(inputDetails["cache_write_tokens"]);
  const whole = completeFromTotal({ input, output, total, cacheRead, cacheWrite, reasoning });
  const cacheReadTokens = Math.min(cacheRead, whole.input);
  const session = sessionCacheIn(value["x_details"]);
  return {
    inputTokens: whole.input,
    cacheReadTokens,
    cacheWriteTokens: Math.min(cacheWrite || session.written, whole.input - cacheReadTokens),
    cacheWrite1hTokens: 0,
    outputTokens: whole.output,
    reasoningTokens: Math.min(reasoning, whole.output),
    ...(cacheReadTokens > 0 && session.isExplicit && { explicitCache: 1 }),
  };
}

/** Alibaba's own members about its session cache: the tokens that it wrote, which is part of the input, and its kind. */
function sessionCacheIn(details: unknown) {
  const told = objects(details).map((each) => objectOf(each["prompt_tokens_details"]));
  return {
    written: told.reduce((sum, each) => sum + tokenCount(each["cache_creation_input_tokens"]), 0),
    isExplicit: told.some((each) => each["cache_type"] === "ephemeral"),
  };
}

/** True if a reported side cannot be a count (T51), or is missing: clients such as Codex fail at a usage without it. */
export const misreports = (usage: unknown): boolean =>
  isObject(usage) && readUsage(usage) === undefined;

/** Encodes canonical usage in the protocol's names (CONV-802, CONV-806, CONV-810, CONV-814; RESP-53). */
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
