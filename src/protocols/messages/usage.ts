/** Usage of the messages protocol, which reports input without cache reads and writes. CONV-803, CONV-807, CONV-811, CONV-815, CONV-818. */
import { isObject, type WireObject } from "../../base/json.ts";
import { reportedCount, tokenCount, type Usage } from "../../base/usage.ts";
import type { JsonObject, UpstreamProtocol } from "../canonical/request.ts";
import { objectOf } from "../read.ts";
import { hasFalseCount } from "../reported-usage.ts";
import { reportedUses, withUses } from "../tool-uses.ts";

const inputFields = [
  "input_tokens",
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
] as const;

/** True if a usage object reports any input; all zeros at a stream's start are a placeholder (T44). */
export function reportsInput(usage: WireObject): boolean {
  return inputFields.some((field) => tokenCount(usage[field]) > 0);
}

/**
 * Merges field by field: the last value wins; null and absent fields keep the earlier value (T49). Zeros do not replace a reported input:
 * counts never fall to zero.
 */
export function mergeUsage(earlier: WireObject, later: WireObject): WireObject {
  const merged = { ...earlier };
  const isPlaceholder = reportsInput(earlier) && !reportsInput(later);
  const kept: readonly string[] = isPlaceholder ? [...inputFields, "cache_creation"] : [];
  for (const [field, value] of Object.entries(later)) {
    if (value !== null && value !== undefined && !kept.includes(field)) merged[field] = value;
  }
  return merged;
}

/** True if a usage object has input fields, even with zeros. */
export const hasInputFields = (usage: WireObject): boolean =>
  inputFields.some((field) => reportedCount(usage[field]) !== undefined);

/** The members of an answer that say why it ended. */
type Stop = Readonly<Partial<Record<"stop_reason" | "stop_details", unknown>>>;

/**
 * Normalises the wire `usage` object of an answer that ended with `stop`. Undefined, so that usage is estimated, if one side is missing
 * (T48) or invalid (T51). An explicit 0 counts as reported (T61).
 */
export function decodeUsage(wire: unknown, stop: Stop = {}): Usage | undefined {
  if (!isObject(wire)) return undefined;
  const sides = [wire["input_tokens"], wire["output_tokens"]];
  if (sides.some((count) => reportedCount(count) === undefined)) return undefined;
  const own = oneUsage(wire);
  const all = addHiddenIterations(own, wire["iterations"]);
  if (all === own && own.outputTokens === 0 && isFreeRefusal(stop)) return { ...own, unbilled: 1 };
  return withUses(all, reportedUses(wire));
}

/** The categories in which Anthropic bills a refusal even if there was no output. */
const billedRefusals: ReadonlySet<unknown> = new Set([
  "bio",
  "frontier_llm",
  "reasoning_extraction",
]);

/** True for a refusal that Anthropic does not bill if it came before any output. Then its counts are only information. */
const isFreeRefusal = ({ stop_reason: reason, stop_details: details }: Stop): boolean =>
  reason === "refusal" && !billedRefusals.has(objectOf(details)["category"]);

/** True if a reported side cannot be a count (T51). */
export const misreports = (usage: unknown): boolean =>
  hasFalseCount(usage, ["input_tokens", "output_tokens"]);

function oneUsage(wire: WireObject): Usage {
  const creation = isObject(wire["cache_creation"]) ? wire["cache_creation"] : {};
  const written1h = tokenCount(creation["ephemeral_1h_input_tokens"]);
  const written5m = tokenCount(creation["ephemeral_5m_input_tokens"]);
  const cacheWriteTokens = tokenCount(wire["cache_creation_input_tokens"], written5m + written1h);
  const cacheReadTokens = tokenCount(wire["cache_read_input_tokens"]);
  const outputTokens = tokenCount(wire["output_tokens"]);
  const details = isObject(wire["output_tokens_details"]) ? wire["output_tokens_details"] : {};
  return {
    inputTokens: tokenCount(wire["input_tokens"]) + cacheReadTokens + cacheWriteTokens,
    cacheReadTokens,
    cacheWriteTokens,
    // At its end a stream adds what the vendor's own tools wrote to the sum alone: if all was for an hour before, that is too (T54).
    cacheWrite1hTokens:
      written1h > 0 && written5m === 0 ? cacheWriteTokens : Math.min(written1h, cacheWriteTokens),
    outputTokens,
    reasoningTokens: Math.min(tokenCount(details["thinking_tokens"]), outputTokens),
  };
}

/**
 * The vendor bills every sampling pass, but its totals only include types `message` and `fallback_message`. Compaction and advisor passes
 * appear only in `iterations`, and are added here.
 */
function addHiddenIterations(total: Usage, iterations: unknown): Usage {
  if (!Array.isArray(iterations)) return total;
  let sum = total;
  for (const iteration of iterations) {
    if (!isObject(iteration)) continue;
    if (iteration["type"] === "message" || iteration["type"] === "fallback_message") continue;
    const more = oneUsage(iteration);
    sum = {
      inputTokens: sum.inputTokens + more.inputTokens,
      cacheReadTokens: sum.cacheReadTokens + more.cacheReadTokens,
      cacheWriteTokens: sum.cacheWriteTokens + more.cacheWriteTokens,
      cacheWrite1hTokens: sum.cacheWrite1hTokens + more.cacheWrite1hTokens,
      outputTokens: sum.outputTokens + more.outputTokens,
      reasoningTokens: sum.reasoningTokens + more.reasoningTokens,
    };
  }
  return sum;
}

/**
 * Encodes a normalised usage as a wire `usage` object; cache reads and writes are subtracted from the input again. Reasoning is reported
 * only if an upstream of this protocol did: otherwise it stays an unnamed part of the output (CONV-815).
 */
export function encodeUsage(usage: Usage, upstream: UpstreamProtocol): JsonObject {
  const { cacheReadTokens, cacheWriteTokens, cacheWrite1hTokens, reasoningTokens } = usage;
  const isOwn = upstream === "messages" && reasoningTokens > 0;
  return {
    input_tokens: Math.max(0, usage.inputTokens - cacheReadTokens - cacheWriteTokens),
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cacheReadTokens,
    cache_creation: {
      ephemeral_5m_input_tokens: Math.max(0, cacheWriteTokens - cacheWrite1hTokens),
      ephemeral_1h_input_tokens: cacheWrite1hTokens,
    },
    output_tokens: usage.outputTokens,
    ...(isOwn ? { output_tokens_details: { thinking_tokens: reasoningTokens } } : {}),
  };
}
