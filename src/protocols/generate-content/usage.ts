/** Usage of the generateContent protocol, which reports output without thoughts. CONV-804, CONV-808, CONV-812, CONV-816, CONV-819. */
import { isObject, type WireObject } from "../../base/json.ts";
import { reportedCount, tokenCount, withMediaCounts, type Usage } from "../../base/usage.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import { objects } from "../read.ts";
import { hasFalseCount } from "../reported-usage.ts";

const countFields = [
  "promptTokenCount",
  "candidatesTokenCount",
  "thoughtsTokenCount",
  "toolUsePromptTokenCount",
  "cachedContentTokenCount",
  "totalTokenCount",
] as const;

const detailFields = [
  "promptTokensDetails",
  "toolUsePromptTokensDetails",
  "cacheTokensDetails",
  "candidatesTokensDetails",
] as const;

/** Merges the counts reported so far. They are cumulative: the last value of each wins (T46, T49). */
export function mergeUsage(earlier: WireObject, later: unknown): WireObject {
  if (!isObject(later)) return earlier;
  const counts = countFields.filter((field) => typeof later[field] === "number");
  if (counts.length === 0) return earlier;
  const told = [...counts, ...detailFields.filter((field) => Array.isArray(later[field]))];
  return { ...earlier, ...Object.fromEntries(told.map((field) => [field, later[field]])) };
}

/**
 * Normalises a `usageMetadata`. Undefined, so that usage is estimated, if the prompt count is missing (T48) or a count is invalid (T51).
 * Results of tools that the vendor ran count as input. Any other count of 0 may be omitted.
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
  const usage: Usage = {
    inputTokens,
    cacheReadTokens: Math.min(tokenCount(wire["cachedContentTokenCount"]), inputTokens),
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    outputTokens: tokenCount(wire["candidatesTokenCount"], rest) + reasoningTokens,
    reasoningTokens,
  };
  return withMediaCounts(usage, {
    audioInputTokens: inputTokensOf(wire, "AUDIO"),
    audioCacheReadTokens: modalityTokens(wire["cacheTokensDetails"], "AUDIO"),
    imageInputTokens: inputTokensOf(wire, "IMAGE"),
    audioOutputTokens: modalityTokens(wire["candidatesTokensDetails"], "AUDIO"),
    imageOutputTokens: modalityTokens(wire["candidatesTokensDetails"], "IMAGE"),
  });
}

/** True if a reported count cannot be one (T51). */
export const misreports = (usage: unknown): boolean => hasFalseCount(usage, countFields);

const modalityTokens = (wire: unknown, modality: string): unknown =>
  objects(wire).find((detail) => detail["modality"] === modality)?.["tokenCount"];

/** Tokens in the prompt, and in results of the vendor's tools. */
const inputTokensOf = (wire: WireObject, modality: string): number =>
  tokenCount(modalityTokens(wire["promptTokensDetails"], modality)) +
  tokenCount(modalityTokens(wire["toolUsePromptTokensDetails"], modality));

/** Encodes a details list; the rest of the side is text. Empty if no modality is reported. */
function detailsOf(whole: number, told: Readonly<Record<string, number | undefined>>): Json[] {
  const others = Object.entries(told).flatMap(([modality, tokenCount]) =>
    tokenCount === undefined ? [] : [{ modality, tokenCount }],
  );
  if (others.length === 0) return [];
  const rest = others.reduce((left, { tokenCount }) => left - tokenCount, whole);
  return [...(rest > 0 ? [{ modality: "TEXT", tokenCount: rest }] : []), ...others];
}

/** Encodes a normalised usage as `usageMetadata`; reasoning is subtracted from the output again. */
export function encodeUsage(usage: Usage): JsonObject {
  const { inputTokens, outputTokens, reasoningTokens, cacheReadTokens } = usage;
  const wire: JsonObject = {
    promptTokenCount: inputTokens,
    candidatesTokenCount: Math.max(0, outputTokens - reasoningTokens),
    totalTokenCount: inputTokens + outputTokens,
  };
  if (reasoningTokens > 0) wire["thoughtsTokenCount"] = reasoningTokens;
  if (cacheReadTokens > 0) wire["cachedContentTokenCount"] = cacheReadTokens;
  const input = detailsOf(inputTokens, {
    AUDIO: usage.audioInputTokens,
    IMAGE: usage.imageInputTokens,
  });
  const cached = detailsOf(cacheReadTokens, { AUDIO: usage.audioCacheReadTokens });
  const output = detailsOf(outputTokens - reasoningTokens, {
    AUDIO: usage.audioOutputTokens,
    IMAGE: usage.imageOutputTokens,
  });
  if (input.length > 0) wire["promptTokensDetails"] = input;
  if (cached.length > 0) wire["cacheTokensDetails"] = cached;
  if (output.length > 0) wire["candidatesTokensDetails"] = output;
  return wire;
}
