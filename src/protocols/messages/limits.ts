/** The limits of the messages protocol. Requirements: CONV, LIM, CONV-403 to CONV-426, CONV-605. */
import { budgetByEffort } from "../efforts.ts";
import { toAnswerSchema } from "../answer-schema.ts";
import { claudeArgumentName, webPictures, type Limits } from "../limits.ts";

export const limits = {
  temperatureMax: 1,
  /** Maximum number of `cache_control` markers in one request. */
  cacheBreakpointsMax: 4,
  /** Smallest `thinking.budget_tokens` that the vendor accepts; it must also stay below `max_tokens`. */
  budgetMin: 1024,
  /** The required `max_tokens`, if neither the request nor the model has a maximum. */
  maxTokensFallback: 4096,
} as const;

/** The limits of messages as the target of a conversion. CONV-401 to CONV-426. */
export const conversionLimits: Limits = {
  protocol: "messages",
  unsupportedFields: {
    seed: "the messages protocol has no seed, dropped",
    presencePenalty: "the messages protocol has no penalties, dropped",
    frequencyPenalty: "the messages protocol has no penalties, dropped",
    outputFormat: "JSON output is not converted for this upstream, dropped",
    verbosity: "the messages protocol has no verbosity, dropped",
    promptCacheKey: "the messages protocol has no cache key, dropped",
    metadata: "this upstream takes only the end-user id of metadata, dropped",
    store: "the messages protocol stores nothing, dropped",
    "reasoning.summary": "the messages protocol has no reasoning summary, dropped",
    "reasoning.includeThoughts":
      "only adaptive models that are told to reason can be told to return thoughts, dropped",
    "reasoning.mode": "only the responses protocol has it, dropped",
    "reasoning.context": "only the responses protocol has it, dropped",
  },
  temperatureMax: limits.temperatureMax,
  stopSequencesMax: Infinity,
  refusesBlankStops: true,
  needsMaximum: true,
  media: { image: "carried", audio: "refused", video: "refused", file: "refused" },
  webMedia: "refused",
  fetchesUrl: webPictures,
  supportedMembers: ["strict", "isError"],
  detailReplacements: {},
  endUserIdMax: 256,
  refusesEmailId: true,
  callIdMax: Infinity,
  plainCallIds: true,
  cacheMarkersMax: limits.cacheBreakpointsMax,
  systemOnTop: true,
  callsLast: true,
  trimsPrefill: true,
  unsignedReasoning: false,
  reasoning: {
    budgetByEffort,
    budgetMin: limits.budgetMin,
    excludes: ["temperature", "topP", "topK"],
    summaryIsFlag: false,
    budgetOrEffort: false,
    effortReplacements: {},
  },
  toolName: /^[a-zA-Z0-9_-]{1,128}$/,
  toolNameMax: 128,
  answerSchema: toAnswerSchema,
  schemaBudget: { tools: 20, optional: 24, unions: 16 },
  argumentName: claudeArgumentName,
};

/** For the models that accept only one of temperature and top_p. */
export const oneSamplerLimits: Limits = { ...conversionLimits, oneSampler: true };
