// Settings that Converse does not support, by case (a temperature above 1 arrives as 1), and how each loss is reported.
import type { ProtocolName } from "../../src/protocols/index.ts";

interface Loss {
  readonly settings: readonly string[];
  readonly dropped: Readonly<Record<ProtocolName, readonly string[]>>;
}

export const converseLosses: Readonly<Record<string, Loss>> = {
  budget: {
    settings: ["budget"],
    dropped: {
      chat: [],
      responses: [],
      messages: ["thinking.budget_tokens"],
      generate_content: ["generationConfig.thinkingConfig.thinkingBudget"],
    },
  },
  effort: {
    settings: ["effort"],
    dropped: {
      chat: ["reasoning_effort"],
      responses: ["reasoning.effort"],
      messages: ["output_config.effort"],
      generate_content: ["generationConfig.thinkingConfig.thinkingLevel"],
    },
  },
  "forced-tool": {
    settings: ["parallel"],
    dropped: {
      chat: ["parallel_tool_calls"],
      responses: ["parallel_tool_calls"],
      messages: ["tool_choice.disable_parallel_tool_use"],
      generate_content: [],
    },
  },
  "json-object": {
    settings: ["format", "verbosity"],
    dropped: {
      chat: ["verbosity", "response_format"],
      responses: ["text.format", "text.verbosity"],
      messages: [],
      generate_content: ["generationConfig.responseMimeType"],
    },
  },
  "json-schema": {
    settings: ["format"],
    dropped: {
      chat: ["response_format"],
      responses: ["text.format"],
      messages: ["output_config.format"],
      generate_content: [
        "generationConfig.responseMimeType",
        "generationConfig.responseJsonSchema",
      ],
    },
  },
  sampling: {
    settings: ["temperature", "seed", "presence_penalty", "frequency_penalty", "top_k"],
    dropped: {
      chat: ["temperature", "seed", "presence_penalty", "frequency_penalty"],
      responses: ["temperature"],
      messages: ["top_k"],
      generate_content: [
        "generationConfig.temperature",
        "generationConfig.seed",
        "generationConfig.presencePenalty",
        "generationConfig.frequencyPenalty",
        "generationConfig.topK",
      ],
    },
  },
  session: {
    settings: ["user", "cache_key", "metadata", "store"],
    dropped: {
      chat: ["user", "prompt_cache_key", "metadata", "store"],
      responses: ["user", "prompt_cache_key", "metadata", "store"],
      messages: ["metadata.user_id"],
      generate_content: ["store"],
    },
  },
};
