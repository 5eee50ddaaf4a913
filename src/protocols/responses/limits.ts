/** Numbers of the responses protocol. Requirements: RESP, LIM. */
import { textBounds } from "../../base/text-bounds.ts";
import { webPictures, type Limits } from "../limits.ts";
import { isStrict } from "../strict-schema.ts";

export const limits = {
  /** Above every model's maximum, and small enough that sums with it stay exact. */
  outputTokensMax: 2_147_483_647,
  temperatureMax: textBounds.temperatureMax,
  topPMax: textBounds.topPMax,
  topLogprobsMax: textBounds.topLogprobsMax,
} as const;

/** The limits of responses as the target of a conversion. CONV-301 to CONV-317. */
export const conversionLimits: Limits = {
  protocol: "responses",
  unsupportedFields: {
    topK: "the responses protocol has no top_k, dropped",
    stop: "the responses protocol has no stop sequences, dropped",
    seed: "the responses protocol has no seed, dropped",
    presencePenalty: "the responses protocol has no penalties, dropped",
    frequencyPenalty: "the responses protocol has no penalties, dropped",
    "reasoning.budget": "a token budget cannot become an effort level, dropped",
  },
  temperatureMax: limits.temperatureMax,
  stopSequencesMax: Infinity,
  needsMaximum: false,
  outputTokensMin: 16,
  jsonWord: "input",
  media: { image: "carried", audio: "refused", video: "refused", file: "dropped" },
  webMedia: "refused",
  fetchesUrl: webPictures,
  supportedMembers: ["developer", "detail", "strict"],
  detailReplacements: {},
  endUserIdMax: 64,
  callIdMax: 64,
  plainCallIds: false,
  cacheMarkersMax: 0,
  systemOnTop: false,
  unsignedReasoning: false,
  reasoning: { excludes: [], summaryIsFlag: false, budgetOrEffort: false, effortReplacements: {} },
  toolName: /^[a-zA-Z0-9_-]{1,64}$/,
  toolNameMax: 64,
  answerNeedsObjectRoot: true,
  listsNeedItems: true,
  portablePatterns: true,
  canEnforce: isStrict,
  customTools: true,
};
