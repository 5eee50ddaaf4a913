/** The canonical field of each parameter that can be converted, by chat-completions name. Not every protocol has each of them. */
import type { CanonicalFieldName } from "./canonical/request.ts";

export const canonicalNames: Readonly<Record<string, CanonicalFieldName>> = {
  max_tokens: "maxOutputTokens",
  temperature: "temperature",
  top_p: "topP",
  top_k: "topK",
  stop: "stop",
  seed: "seed",
  presence_penalty: "presencePenalty",
  frequency_penalty: "frequencyPenalty",
  tools: "tools",
  tool_choice: "toolChoice",
  parallel_tool_calls: "parallelToolCalls",
  response_format: "outputFormat",
  reasoning_effort: "reasoning.effort",
  verbosity: "verbosity",
  user: "endUserId",
  prompt_cache_key: "promptCacheKey",
  metadata: "metadata",
  store: "store",
};
