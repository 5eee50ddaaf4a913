/** The limits of Converse as the target of a conversion. docs/bedrock.md. */
import { toAnswerSchema } from "../answer-schema.ts";
import { budgetByEffort } from "../efforts.ts";
import { claudeArgumentName, type Limits } from "../limits.ts";
import { formatOf } from "./media.ts";

/** The smallest thinking budget of Claude; only its models have budgets. */
const budgetMin = 1024;

export const conversionLimits: Limits = {
  protocol: "converse",
  unsupportedFields: {
    topK: "in Converse its name depends on the model, dropped",
    seed: "Converse has no seed, dropped",
    presencePenalty: "Converse has no penalties, dropped",
    frequencyPenalty: "Converse has no penalties, dropped",
    outputFormat: "JSON output is not converted for this upstream, dropped",
    parallelToolCalls: "Converse has no setting for parallel tool calls, dropped",
    verbosity: "Converse has no verbosity, dropped",
    endUserId: "Converse has no end-user id, dropped",
    promptCacheKey: "Converse has no cache key, dropped",
    metadata: "metadata is not converted for this upstream, dropped",
    store: "Converse stores nothing, dropped",
    "reasoning.summary": "Converse has no reasoning summary, dropped",
    "reasoning.includeThoughts": "Converse has no setting for returned thoughts, dropped",
    "reasoning.mode": "only the responses protocol has it, dropped",
    "reasoning.context": "only the responses protocol has it, dropped",
  },
  temperatureMax: 1,
  stopSequencesMax: Infinity,
  needsMaximum: false,
  media: { image: "carried", audio: "carried", video: "carried", file: "carried" },
  webMedia: "refused",
  fetchesUrl: () => false,
  acceptsMediaType: (mediaType, media) => formatOf(mediaType, media) !== undefined,
  supportedMembers: ["isError"],
  detailReplacements: {},
  endUserIdMax: Infinity,
  callIdMax: 64,
  plainCallIds: true,
  cacheMarkersMax: 0,
  systemOnTop: true,
  callsLast: true,
  trimsPrefill: true,
  unsignedReasoning: false,
  forbidsTools: false,
  reasoning: {
    budgetByEffort,
    budgetMin,
    excludes: [],
    summaryIsFlag: false,
    budgetOrEffort: false,
    effortReplacements: {},
    byRecordOnly: true,
  },
  toolName: /^[a-zA-Z0-9_-]{1,64}$/,
  toolNameMax: 64,
  answerSchema: toAnswerSchema,
};

/** For Nova, which refuses cache points after tools, calls and results, and for more than five minutes. */
export const novaLimits: Limits = { ...conversionLimits, cacheMarkersMax: 4, plainMarkers: true };

/**
 * For Claude, which has the same limits at Bedrock as at Anthropic. But a cache point after a document fails there: "type: Field required",
 * and after a PDF alone "There is nothing available to cache" (strands-agents #1966, opencode #17300).
 */
export const claudeLimits: Limits = {
  ...conversionLimits,
  cacheMarkersMax: 4,
  documentsUnmarked: true,
  refusesBlankStops: true,
  argumentName: claudeArgumentName,
  reasoning: { ...conversionLimits.reasoning, excludes: ["temperature", "topP"] },
};

/** For Claude models that accept only one of temperature and top_p. */
export const oneSamplerLimits: Limits = { ...claudeLimits, oneSampler: true };
