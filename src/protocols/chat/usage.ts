/**
 * Normalises the usage of chat upstreams: input includes cache reads, output includes reasoning. Requirements: CONV, traps T46, T48, T50,
 * T51, T61.
 */
import { isObject, type WireObject } from "../../base/json.ts";
import { reportedCount, tokenCount, withMediaCounts, type Usage } from "../../base/usage.ts";
import type { JsonObject } from "../canonical/request.ts";
import { completeFromTotal } from "../complete-from-total.ts";
import { member, objectOf } from "../read.ts";
import { hasFalseCount } from "../reported-usage.ts";
import { reportedUses, withUses } from "../tool-uses.ts";

type Count = number | undefined;
/** The reported count, or else the total minus the other side. */
function reportedOrRest(value: unknown, total: Count, other: Count): Count {
  const rest = total === undefined || other === undefined ? -1 : total - other;
  return reportedCount(value) ?? (rest < 0 ? undefined : rest);
}
/** Returns the first count above 0; 0 if there is none. Gateways report a count in one member and zeros in others. */
function firstCount(...values: readonly unknown[]): number {
  for (const value of values) {
    const count = tokenCount(value);
    if (count > 0) return count;
  }
  return 0;
}

/** Reads a `usage` object. Undefined if it does not report both sides; an explicit 0 counts as reported (T61). */
export function readUsage(reported: unknown): Usage | undefined {
  if (!isObject(reported)) return undefined;
  const value = withResearch(reported);
  const total = reportedCount(value["total_tokens"]);
  const prompt = reportedOrRest(
    value["prompt_tokens"],
    total,
    reportedCount(value["completion_tokens"]),
  );
  const completion = reportedOrRest(value["completion_tokens"], total, prompt);
  if (prompt === undefined || completion === undefined) return undefined;
  const rest = total === undefined ? 0 : total - prompt - completion;
  const parts = withHiddenReasoning(readParts(value), prompt, rest);
  const whole = completeFromTotal({ input: prompt, output: completion, total, ...parts });
  const cacheReadTokens = Math.min(parts.cacheRead, whole.input);
  const cacheWriteTokens = Math.min(parts.cacheWrite, whole.input - cacheReadTokens);
  const [input, output] = [
    objectOf(value["prompt_tokens_details"]),
    objectOf(value["completion_tokens_details"]),
  ];
  const usage: Usage = {
    inputTokens: whole.input,
    cacheReadTokens,
    cacheWriteTokens,
    cacheWrite1hTokens: Math.min(parts.cacheWrite1h, cacheWriteTokens),
    outputTokens: whole.output,
    reasoningTokens: Math.min(parts.reasoning, whole.output),
    ...(cacheReadTokens > 0 && input["cache_type"] === "ephemeral" && { explicitCache: 1 }),
  };
  const detailed = withMediaCounts(usage, {
    audioInputTokens: input["audio_tokens"],
    imageInputTokens: input["image_tokens"],
    audioOutputTokens: output["audio_tokens"],
    imageOutputTokens: output["image_tokens"],
  });
  return withUses(detailed, reportedUses(value));
}

/**
 * Adds what Perplexity's research model bills beside its answer: the pages that it read, its reasoning, and its searches. Its sides and its
 * total leave them out, so it reports more reasoning than output.
 */
function withResearch(value: WireObject): WireObject {
  const read = reportedCount(value["citation_tokens"]);
  const thought = reportedCount(value["reasoning_tokens"]) ?? 0;
  const [prompt, completion] = [
    reportedCount(value["prompt_tokens"]),
    reportedCount(value["completion_tokens"]),
  ];
  if (read === undefined || prompt === undefined || completion === undefined) return value;
  if (thought <= completion) return value;
  return {
    ...value,
    prompt_tokens: prompt + read,
    completion_tokens: completion + thought,
    total_tokens: undefined,
    server_tool_use: { web_search_requests: value["num_search_queries"] },
  };
}

/** True if a reported side cannot be a count (T51). */
export const misreports = (usage: unknown): boolean =>
  hasFalseCount(usage, ["prompt_tokens", "completion_tokens"]);

interface Parts {
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly cacheWrite1h: number;
  readonly reasoning: number;
}

/**
 * If the total exceeds both sides and no details explain the rest, it is reasoning: Google's endpoint of this protocol reports thinking only
 * in the total. It does so beside cache reads too, which are part of the prompt there. Other vendors leave what the cache read or wrote out of the
 * prompt: such a rest is no reasoning.
 */
function withHiddenReasoning(parts: Parts, prompt: number, rest: number): Parts {
  const { cacheRead, cacheWrite, reasoning } = parts;
  const cached = cacheRead + cacheWrite;
  const isExplained =
    reasoning > 0 || cached > prompt || [cacheRead, cacheWrite, cached].includes(rest);
  return rest > 0 && !isExplained ? { ...parts, reasoning: rest } : parts;
}

function readParts(usage: WireObject): Parts {
  const input = objectOf(usage["prompt_tokens_details"]);
  const output = objectOf(usage["completion_tokens_details"]);
  return {
    // Vendors have members of their own: DeepSeek, Moonshot, Databricks and Snowflake with Claude's, and Mistral.
    cacheRead: firstCount(
      input["cached_tokens"],
      usage["prompt_cache_hit_tokens"],
      usage["cached_tokens"],
      usage["cache_read_input_tokens"],
      usage["num_cached_tokens"],
      objectOf(usage["prompt_token_details"])["cached_tokens"],
    ),
    cacheWrite: firstCount(
      input["cache_write_tokens"],
      input["cache_creation_input_tokens"],
      input["cache_creation_tokens"],
      usage["cache_creation_input_tokens"],
    ),
    // Gateways in front of Claude report the lifetimes apart, each in its own member (T54).
    cacheWrite1h: firstCount(
      objectOf(input["cache_creation_token_details"])["ephemeral_1h_input_tokens"],
      objectOf(usage["cache_creation"])["ephemeral_1h_input_tokens"],
      usage["claude_cache_creation_1_h_tokens"],
    ),
    reasoning: firstCount(output["reasoning_tokens"], usage["reasoning_tokens"]),
  };
}

/**
 * Returns the object with normalised counts in the protocol's members, so that callers read the counts they are billed for (CONV-809,
 * CONV-813). Other members stay.
 */
export function normaliseUsage(value: WireObject): JsonObject {
  const kept = value as JsonObject;
  const usage = readUsage(value);
  if (!usage) return kept;
  const { inputTokens: prompt, outputTokens: completion } = usage;
  const input = partOf(kept, "prompt_tokens_details", usage.cacheReadTokens);
  const output = partOf(kept, "completion_tokens_details", usage.reasoningTokens);
  const isTold = kept["prompt_tokens"] === prompt && kept["completion_tokens"] === completion;
  if (isTold && input === undefined && output === undefined) return kept;
  const total: JsonObject = isTold ? {} : { total_tokens: prompt + completion };
  const counts = { prompt_tokens: prompt, completion_tokens: completion, ...total };
  return { ...kept, ...counts, ...input, ...output };
}

const partNames = {
  prompt_tokens_details: "cached_tokens",
  completion_tokens_details: "reasoning_tokens",
} as const;

/**
 * Returns a details member of `usage` with the billed count, if the vendor reports it elsewhere or reports an impossible one (T51).
 * Undefined if it has the count, or the count is 0 and not reported.
 */
function partOf(
  usage: JsonObject,
  key: keyof typeof partNames,
  count: number,
): JsonObject | undefined {
  const known = objectOf(usage[key]) as JsonObject;
  const name = partNames[key];
  if (count === 0 && (known[name] ?? null) === null) return undefined;
  return known[name] === count ? undefined : { [key]: { ...known, [name]: count } };
}

/** Encodes canonical usage in the protocol's names (CONV-801, CONV-805, CONV-809, CONV-813). */
export function writeUsage(usage: Usage): JsonObject {
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: {
      cached_tokens: usage.cacheReadTokens,
      cache_write_tokens: usage.cacheWriteTokens,
      ...member("audio_tokens", usage.audioInputTokens),
      ...member("image_tokens", usage.imageInputTokens),
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoningTokens,
      ...member("audio_tokens", usage.audioOutputTokens),
      ...member("image_tokens", usage.imageOutputTokens),
    },
  };
}
