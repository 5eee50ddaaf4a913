/**
 * Schema of the chat-completions request: field types and domains. Unknown fields, parts and tool kinds pass; the upstream accepts or
 * refuses them. Requirements: TXT.
 */
import { Type } from "../../base/json-schema.ts";
import { anyObject, compileCheck, nullable, oneOf, when } from "../wire-check.ts";
import {
  allowedFields,
  audioFields,
  customFields,
  declarationFields,
  functionFields,
  optionalTexts,
  promptCacheBreakpoint,
  promptCacheOptions,
  promptCacheRetention,
} from "../wire-fields.ts";
import { limits } from "./limits.ts";

/** Mistral's clients write the address alone (mistral-spellings.ts). */
const picture = Type.Union([
  Type.Object({ url: Type.String(), ...optionalTexts("detail") }),
  Type.String(),
]);

const part = Type.Unsafe<object>({
  type: "object",
  required: ["type"],
  properties: { type: { type: "string" }, prompt_cache_breakpoint: promptCacheBreakpoint },
  allOf: [
    when("type", ["text"], { required: ["text"], properties: { text: { type: "string" } } }),
    when("type", ["refusal"], {
      required: ["refusal"],
      properties: { refusal: { type: "string" } },
    }),
    when("type", ["image_url"], {
      required: ["image_url"],
      properties: { image_url: picture },
    }),
    when("type", ["input_audio"], {
      required: ["input_audio"],
      properties: { input_audio: Type.Object(audioFields) },
    }),
    when("type", ["file"], {
      required: ["file"],
      properties: { file: Type.Object(optionalTexts("file_data", "file_id", "filename")) },
    }),
  ],
});

const content = Type.Union([Type.String(), Type.Array(part)]);
const namedArguments = Type.Object({ name: Type.String(), arguments: Type.String() });

const toolCall = Type.Unsafe<object>({
  type: "object",
  required: ["id"],
  properties: { id: { type: "string" }, type: { type: "string" }, function: namedArguments },
  allOf: [
    when("type", ["function"], { required: ["function"] }),
    when("type", ["custom"], {
      required: ["custom"],
      properties: { custom: Type.Object({ name: Type.String(), input: Type.String() }) },
    }),
  ],
});

const message = Type.Unsafe<object>({
  type: "object",
  required: ["role"],
  properties: {
    role: oneOf("developer", "system", "user", "assistant", "tool", "function"),
    name: nullable(Type.String()),
    content: nullable(content),
    refusal: nullable(Type.String()),
    tool_calls: nullable(Type.Array(toolCall)),
    function_call: nullable(namedArguments),
  },
  allOf: [
    // Only an assistant may omit `content`, or set it to null, beside its tool calls.
    when("role", ["developer", "system", "user", "tool"], {
      required: ["content"],
      properties: { content },
    }),
    when("role", ["tool"], {
      required: ["tool_call_id"],
      properties: { tool_call_id: { type: "string" } },
    }),
  ],
});

const declaration = Type.Object(functionFields);

const tool = Type.Unsafe<object>({
  type: "object",
  required: ["type"],
  properties: { type: { type: "string" } },
  allOf: [
    when("type", ["function"], { required: ["function"], properties: { function: declaration } }),
    when("type", ["custom"], {
      required: ["custom"],
      properties: { custom: Type.Object(customFields) },
    }),
  ],
});

const toolChoice = Type.Unsafe<object>({
  anyOf: [
    // `any` is Mistral's (mistral-spellings.ts).
    oneOf("none", "auto", "required", "any"),
    {
      type: "object",
      required: ["type"],
      properties: { type: { type: "string" } },
      allOf: [
        when("type", ["function"], {
          required: ["function"],
          properties: { function: Type.Object({ name: Type.String() }) },
        }),
        when("type", ["allowed_tools"], {
          required: ["allowed_tools"],
          properties: { allowed_tools: Type.Object(allowedFields) },
        }),
      ],
    },
  ],
});

const responseFormat = Type.Unsafe<object>({
  type: "object",
  required: ["type"],
  properties: { type: { type: "string" } },
  allOf: [
    when("type", ["json_schema"], {
      required: ["json_schema"],
      properties: { json_schema: { type: "object", properties: declarationFields } },
    }),
  ],
});

const tokens = Type.Integer({ minimum: 1, maximum: limits.outputTokensMax });
const penalty = Type.Number({ minimum: -limits.penaltyMax, maximum: limits.penaltyMax });

/** The body of `POST /v1/chat/completions`. `service_tier` is not checked, because it is never forwarded. */
export const chatRequest = Type.Object({
  model: Type.String({ minLength: 1 }),
  // Fallback models (docs/routing.md): for the gateway only, never forwarded.
  models: nullable(Type.Array(Type.String({ minLength: 1 }))),
  messages: Type.Array(message, { minItems: 1 }),
  max_completion_tokens: nullable(tokens),
  max_tokens: nullable(tokens),
  temperature: nullable(Type.Number({ minimum: 0, maximum: limits.temperatureMax })),
  top_p: nullable(Type.Number({ minimum: 0, maximum: limits.topPMax })),
  stop: nullable(
    Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: limits.stopSequencesMax })]),
  ),
  seed: nullable(Type.Integer()),
  presence_penalty: nullable(penalty),
  frequency_penalty: nullable(penalty),
  logit_bias: nullable(anyObject),
  logprobs: nullable(Type.Boolean()),
  top_logprobs: nullable(Type.Integer({ minimum: 0, maximum: limits.topLogprobsMax })),
  n: nullable(Type.Integer({ minimum: 1, maximum: limits.answersMax })),
  tools: nullable(Type.Array(tool)),
  tool_choice: nullable(toolChoice),
  parallel_tool_calls: nullable(Type.Boolean()),
  response_format: nullable(responseFormat),
  // The valid efforts depend on the model: the upstream refuses others (RESP-24).
  reasoning_effort: nullable(Type.String()),
  verbosity: nullable(oneOf("low", "medium", "high")),
  stream: nullable(Type.Boolean()),
  stream_options: nullable(
    Type.Object({
      include_usage: nullable(Type.Boolean()),
      include_obfuscation: nullable(Type.Boolean()),
    }),
  ),
  user: nullable(Type.String()),
  safety_identifier: nullable(Type.String()),
  prompt_cache_key: nullable(Type.String()),
  prompt_cache_options: promptCacheOptions,
  prompt_cache_retention: promptCacheRetention,
  store: nullable(Type.Boolean()),
  metadata: nullable(anyObject),
  prediction: nullable(anyObject),
  moderation: nullable(anyObject),
  modalities: nullable(Type.Array(Type.String())),
  audio: nullable(anyObject),
  web_search_options: nullable(anyObject),
  functions: nullable(Type.Array(declaration)),
  function_call: nullable(
    Type.Unsafe<object>({
      anyOf: [oneOf("none", "auto"), Type.Object({ name: Type.String() })],
    }),
  ),
});

/** Throws a GatewayError for the first field of a body that has the wrong type or is outside its domain. */
export const checkChatRequest = compileCheck(chatRequest);
