/**
 * Detects refusals of a request that does not fit the model's context. They are about the request only. Vendors send a code, a message, or
 * both; some only after a stream has begun. docs/errors.md `context_length_exceeded`.
 */
import { GatewayError } from "../base/errors.ts";
import type { WireError } from "../protocols/index.ts";

/** In lower case: OpenAI and most others, llama.cpp, GitHub Models. */
const codes = new Set([
  "context_length_exceeded",
  "exceed_context_size_error",
  "tokens_limit_reached",
]);

/**
 * In this order: OpenAI and most compatible vendors, Anthropic, Google, Amazon, xAI, Mistral, llama.cpp, DashScope, Groq, Copilot. Then
 * Moonshot, MiniMax, Zhipu, vLLM since 2026, Together and SGLang, Baseten and Poolside, LM Studio. At the end older vLLM, Hugging
 * Face's TGI and Together, older LM Studio, SambaNova, DeepInfra, GitHub Models. Last, Cloudflare, SiliconFlow, NVIDIA's TensorRT-LLM and
 * Triton, Amazon Nova, Cohere, and llama.cpp within an answer and at embeddings.
 */
const messagePatterns = [
  /\bmaximum (?:context|prompt) length is\b/i,
  /\bexceeds? (?:the )?(?:model(?:'?s)? )?(?:maximum )?context (?:window|limit|length)\b/i,
  /\bprompt (?:is )?too long\b/i,
  /\binput token count\b.{0,80}\bexceeds the maximum number of tokens\b/i,
  /\binput is too long for requested model\b/i,
  /\btoo large for model with \d{1,9} maximum context length\b/i,
  /\bexceeds the available context size\b/i,
  /\brange of input length should be\b/i,
  /\breduce the length of the (?:messages|prompt)\b/i,
  /\bprompt token count of \d{1,12} exceeds\b/i,
  /\bexceeded model token limit\b/i,
  /\bcontext window exceeds limit\b/i,
  /\bprompt (?:exceeds max length\b|超长)/i,
  /\bmodel's context length is only\b/i,
  /\blonger than the model'?s context length\b/i,
  /\bexceeds the maximum allowed input length\b/i,
  /\binitial prompt is greater than the context length\b/i,
  /\blonger than the maximum model length\b/i,
  /`inputs` (?:tokens \+ `max_new_tokens` must be <=|must have less than) \d/,
  /\bmodel is loaded with context length of only\b/i,
  /\bmaximum supported sequence length is just\b/i,
  /\binput length \d{1,12} exceeds maximum input length\b/i,
  /\brequest body too large for .{1,200} model\. Max size: \d{1,12} tokens\b/i,
  /\bexceeded this model context window limit\b/i,
  /\bprompt_tokens \(\d{1,12}\) must be less than max_seq_len\b/,
  /\bprompt length \(\d{1,12}\) exceeds maximum (?:input|sequence) length\b/i,
  /\bnumber of input tokens exceeds maximum length\b/i,
  /\btokens in the prompt cannot exceed \d/i,
  /\bis larger than the max context size\b/i,
  /\bcontext size has been exceeded\b/i,
  /\btokens\) is too large to process\. increase the physical batch size\b/i,
];

/** True if a vendor says that a request is too long for its model. */
export const isTooLong = ({ code, type, message }: WireError): boolean =>
  [code, type].some((word) => word !== undefined && codes.has(word.toLowerCase())) ||
  messagePatterns.some((pattern) => pattern.test(message));

/** Returns the caller's error, in the vendor's words. Always 400: with a vendor's 413, agents take away attachments instead. */
export const tooLong = ({ message, param }: WireError): GatewayError =>
  new GatewayError("context_length_exceeded", message, { param });
