/**
 * The fields of each agent's requests that an upstream does not support, in the order of the request. One list is for the first
 * request of a run, one for requests with a history. Names: docs/decisions.md "Dropped parameters".
 */
import type { ProtocolName } from "../../src/protocols/canonical/request.ts";

type Losses = Readonly<Partial<Record<ProtocolName, readonly (readonly string[])[]>>>;

/** A run of three requests: the history adds its own losses to the others. */
const run = (history: readonly string[], rest: readonly string[]): readonly string[][] => [
  [...rest],
  [...history, ...rest],
  [...history, ...rest],
];
const noLosses = run([], []);

/** The billing header in its system prompt is only for its own vendor (T36); `system` names that block. */
const claudeStart = ["system", "system.cache_control", "tools[10].defer_loading"];
const claudeChat = [
  ...claudeStart,
  // Longer than the vendor accepts: replaced by a hash.
  "metadata.user_id",
  // Adaptive thinking: only its effort is passed on.
  "thinking",
  "thinking.display",
  "context_management",
];
const claudeResponses = claudeChat.filter((name) => name !== "thinking.display");
// `messages`: a system turn after the user's is moved to the top. `tools`: schema keywords that the vendor refuses.
const claudeGoogle = [
  "messages",
  ...claudeStart,
  "tools",
  "metadata.user_id",
  "context_management",
];
const cached = "messages.content.cache_control";

/** A namespace of functions, which are sent as separate functions, and the vendor's own web search. */
const codexTools = ["tools", "tools[8]"];
const codexChat = [...codexTools, "reasoning.summary", "include", "client_metadata"];
const codexMessages = [
  ...codexTools,
  "reasoning.summary",
  "store",
  "include",
  "prompt_cache_key",
  "client_metadata",
];
const codexGoogle = [
  ...codexTools,
  "parallel_tool_calls",
  "reasoning.summary",
  "include",
  "prompt_cache_key",
  "client_metadata",
];

const topK = "generationConfig.topK";
const includeThoughts = "generationConfig.thinkingConfig.includeThoughts";
const geminiWith = (history: readonly string[]): Losses => ({
  chat: run(history, [topK, includeThoughts]),
  responses: run(history, [topK]),
  messages: run(history, [includeThoughts]),
  generate_content: noLosses,
});

export const losses: Readonly<Record<string, Losses>> = {
  "claude-code-on-messages": {
    chat: run(["messages.content.signature", cached], claudeChat),
    responses: run(
      ["messages.content.signature", "messages.content.thinking", cached],
      claudeResponses,
    ),
    messages: noLosses,
    generate_content: run(
      ["messages.content.signature", "messages.content.thinking", cached],
      claudeGoogle,
    ),
  },
  "claude-code-on-chat": {
    chat: run([cached], claudeChat),
    responses: run(["messages.content.thinking", cached], claudeResponses),
    messages: run(["messages.content.thinking"], []),
    generate_content: run(["messages.content.thinking", cached], claudeGoogle),
  },
  "codex-on-responses": {
    chat: run(["input.encrypted_content"], codexChat),
    responses: noLosses,
    messages: run(["input.encrypted_content", "input.reasoning"], codexMessages),
    generate_content: run(["input.encrypted_content", "input.reasoning"], codexGoogle),
  },
  "codex-on-messages": {
    chat: run([], codexChat),
    responses: run(["input.reasoning"], []),
    messages: run(["input.reasoning"], codexMessages),
    generate_content: run(["input.reasoning"], codexGoogle),
  },
  "gemini-cli-on-generate-content": geminiWith(["contents.parts.thoughtSignature"]),
  // For another vendor's calls the CLI says that no signature is required: none is lost.
  "gemini-cli-on-chat": geminiWith([]),
};
