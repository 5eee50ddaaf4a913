/** Numbers of the chat-completions protocol. CONV-206, LIM-12. */
import { textBounds } from "../../base/text-bounds.ts";
import { webPictures, type Limits } from "../limits.ts";
import { isStrict } from "../strict-schema.ts";

export const limits = {
  ...textBounds,
  /** Above every model's maximum, and small enough that `n` times it is still an exact number. */
  outputTokensMax: 2_147_483_647,
} as const;

/** The limits of chat completions as the target of a conversion. CONV-201 to CONV-221. */
export const conversionLimits: Limits = {
  protocol: "chat",
  unsupportedFields: {
    topK: "chat completions have no top_k, dropped",
    "reasoning.budget": "a token budget cannot become an effort level, dropped",
    "reasoning.summary": "chat completions return no reasoning summary, dropped",
    "reasoning.includeThoughts": "chat completions have no setting for returned thoughts, dropped",
    "reasoning.mode": "only the responses protocol has it, dropped",
    "reasoning.context": "only the responses protocol has it, dropped",
  },
  temperatureMax: limits.temperatureMax,
  stopSequencesMax: limits.stopSequencesMax,
  needsMaximum: false,
  jsonWord: "anywhere",
  metadataNeedsStore: true,
  media: { image: "carried", audio: "carried", video: "refused", file: "dropped" },
  webMedia: "refused",
  fetchesUrl: webPictures,
  supportedMembers: ["name", "detail", "strict", "assistantMedia"],
  detailReplacements: { original: "high" },
  endUserIdMax: 64,
  // OpenAI refuses longer ones, such as vLLM's with 46 characters.
  callIdMax: 40,
  plainCallIds: false,
  cacheMarkersMax: 0,
  systemOnTop: false,
  unsignedReasoning: true,
  reasoning: { excludes: [], summaryIsFlag: false, budgetOrEffort: false, effortReplacements: {} },
  toolName: /^[a-zA-Z0-9_-]{1,64}$/,
  toolNameMax: 64,
  answerNeedsObjectRoot: true,
  listsNeedItems: true,
  portablePatterns: true,
  canEnforce: isStrict,
};
