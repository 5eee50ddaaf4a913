/** The limits of the generateContent protocol. Requirements: CONV, LIM, CONV-503 to CONV-519. */
import type { Limits } from "../limits.ts";
import { schemaLosses } from "./schema.ts";

export const limits = {
  temperatureMax: 2,
  stopSequencesMax: 5,
  /** Budget of each effort, for models that only have budgets (docs/decisions.md "Reasoning"). */
  budgetByEffort: { none: 0, minimal: 1024, low: 1024, medium: 8192, high: 24_576 },
  /** Level of each effort; efforts above `high` have no level of their own. */
  levelByEffort: {
    minimal: "MINIMAL",
    low: "LOW",
    medium: "MEDIUM",
    high: "HIGH",
    xhigh: "HIGH",
    max: "HIGH",
  },
} as const;

/** True for addresses that the vendor can read itself; media at any other URL is lost (CONV-517, CONV-518). */
export function isFileStoreUri(uri: string): boolean {
  return (
    uri.startsWith("gs://") ||
    /^https:\/\/generativelanguage\.googleapis\.com\/.*\bfiles\//.test(uri) ||
    /^files\/[\w-]+$/.test(uri)
  );
}

/** True for models before the third generation: they use budgets, require no signature on calls, and accept no media in tool results. */
export const isOlderGeneration = (model: string): boolean => /gemini-(?:1|2)[.-]/.test(model);

/** True for models that make pictures: their names say so. */
export const makesPictures = (model: string): boolean => model.includes("image");

/** The limits of generateContent as the target of a conversion. CONV-501 to CONV-519. */
export const conversionLimits: Limits = {
  protocol: "generate_content",
  unsupportedFields: {
    parallelToolCalls: "generateContent has no setting for parallel tool calls, dropped",
    verbosity: "generateContent has no verbosity, dropped",
    endUserId: "generateContent has no end-user id, dropped",
    promptCacheKey: "generateContent has no cache key, dropped",
    metadata: "generateContent has no metadata, dropped",
    "reasoning.mode": "only the responses protocol has it, dropped",
    "reasoning.context": "only the responses protocol has it, dropped",
  },
  temperatureMax: limits.temperatureMax,
  stopSequencesMax: limits.stopSequencesMax,
  // The seed is a signed 32-bit number.
  seedMax: 2_147_483_647,
  needsMaximum: false,
  media: { image: "carried", audio: "carried", video: "carried", file: "dropped" },
  webMedia: "dropped",
  fetchesUrl: isFileStoreUri,
  supportedMembers: ["isError", "assistantMedia"],
  detailReplacements: {},
  endUserIdMax: Infinity,
  callIdMax: Infinity,
  plainCallIds: false,
  cacheMarkersMax: 0,
  systemOnTop: true,
  unsignedReasoning: false,
  reasoning: {
    excludes: [],
    summaryIsFlag: true,
    budgetOrEffort: true,
    effortReplacements: { xhigh: "high", max: "high" },
  },
  toolName: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/,
  toolNameMax: 128,
  argumentName: /^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/,
  schemaLosses,
};

/** For the models before the third generation. */
export const olderLimits: Limits = { ...conversionLimits, formatOrTools: true };
