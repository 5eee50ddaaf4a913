/** Schema of the responses request: field types and domains. Unknown fields, items and hosted tools pass. RESP-01 to RESP-50. */
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

const part = Type.Unsafe<object>({
  type: "object",
  required: ["type"],
  properties: { type: { type: "string" }, prompt_cache_breakpoint: promptCacheBreakpoint },
  allOf: [
    when("type", ["input_text", "output_text", "text"], {
      required: ["text"],
      properties: { text: { type: "string" } },
    }),
    when("type", ["refusal"], {
      required: ["refusal"],
      properties: { refusal: { type: "string" } },
    }),
    when("type", ["input_image"], {
      properties: optionalTexts("image_url", "file_id", "detail"),
    }),
    when("type", ["input_file"], {
      properties: optionalTexts("file_data", "file_url", "file_id", "filename"),
    }),
    when("type", ["input_audio"], {
      required: ["input_audio"],
      properties: { input_audio: Type.Object(audioFields) },
    }),
  ],
});

const content = Type.Union([Type.String(), Type.Array(part)]);

const messageRule = {
  type: "object",
  required: ["role", "content"],
  properties: { role: oneOf("user", "assistant", "system", "developer"), content },
};

const strings = (...names: string[]) => ({
  required: names,
  properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
});

const callOf = (said: string) => {
  const { required, properties } = strings("call_id", "name", said);
  return { required, properties: { ...properties, ...optionalTexts("namespace") } };
};

const reasoningText = Type.Object(optionalTexts("type", "text"));

const item = Type.Unsafe<object>({
  type: "object",
  properties: optionalTexts("type", "id"),
  allOf: [
    when("type", ["message"], messageRule),
    // Without a type, it is a message, or a reference to an item by id.
    { anyOf: [{ required: ["type"] }, { required: ["id"] }, messageRule] },
    when("type", ["function_call"], callOf("arguments")),
    when("type", ["custom_tool_call"], callOf("input")),
    when("type", ["function_call_output", "custom_tool_call_output"], {
      required: ["call_id", "output"],
      properties: { call_id: { type: "string" }, output: content },
    }),
    when("type", ["reasoning"], {
      properties: {
        summary: nullable(Type.Array(reasoningText)),
        content: nullable(Type.Array(reasoningText)),
        ...optionalTexts("encrypted_content"),
      },
    }),
    when("type", ["image_generation_call"], {
      properties: optionalTexts("result", "output_format"),
    }),
    when("type", ["computer_call_output"], {
      properties: { output: Type.Object({ prompt_cache_breakpoint: promptCacheBreakpoint }) },
    }),
  ],
});

/** A tool in a namespace. Tools without a type pass; the upstream decides on them. */
const toolWithin = Type.Object(optionalTexts("type", "name", "description"), {
  allOf: [when("type", ["function"], { properties: { ...functionFields, name: {} } })],
});

const tool = Type.Unsafe<object>({
  type: "object",
  required: ["type"],
  properties: { type: { type: "string" } },
  allOf: [
    when("type", ["function"], { required: ["name"], properties: functionFields }),
    when("type", ["custom"], { properties: customFields }),
    when("type", ["namespace"], {
      properties: {
        ...optionalTexts("name", "description"),
        tools: nullable(Type.Array(toolWithin)),
      },
    }),
  ],
});

const toolChoice = Type.Unsafe<object>({
  anyOf: [
    oneOf("none", "auto", "required"),
    {
      type: "object",
      required: ["type"],
      properties: { type: { type: "string" } },
      allOf: [
        when("type", ["function", "custom"], {
          required: ["name"],
          properties: { name: Type.String(), ...optionalTexts("namespace") },
        }),
        when("type", ["allowed_tools"], { required: ["tools"], properties: allowedFields }),
      ],
    },
  ],
});

const text = Type.Object({
  format: nullable(
    Type.Unsafe<object>({
      type: "object",
      required: ["type"],
      properties: { type: oneOf("text", "json_object", "json_schema") },
      allOf: [
        when("type", ["json_schema"], {
          required: ["schema"],
          properties: declarationFields,
        }),
      ],
    }),
  ),
  verbosity: nullable(oneOf("low", "medium", "high")),
});

/** The body of `POST /v1/responses`. `service_tier` and `previous_response_id` are not checked, because they are never forwarded. */
export const responsesRequest = Type.Object({
  model: Type.String({ minLength: 1 }),
  input: Type.Union([Type.String(), Type.Array(item)]),
  instructions: nullable(Type.String()),
  max_output_tokens: nullable(Type.Integer({ minimum: 1, maximum: limits.outputTokensMax })),
  temperature: nullable(Type.Number({ minimum: 0, maximum: limits.temperatureMax })),
  top_p: nullable(Type.Number({ minimum: 0, maximum: limits.topPMax })),
  stream: nullable(Type.Boolean()),
  tools: nullable(Type.Array(tool)),
  tool_choice: nullable(toolChoice),
  parallel_tool_calls: nullable(Type.Boolean()),
  text: nullable(text),
  // The valid values depend on the model: the upstream refuses others (RESP-24).
  reasoning: nullable(
    Type.Object(optionalTexts("effort", "summary", "generate_summary", "mode", "context")),
  ),
  include: nullable(Type.Array(Type.String())),
  background: nullable(Type.Boolean()),
  context_management: nullable(Type.Array(anyObject)),
  conversation: nullable(Type.Union([Type.String(), anyObject])),
  prompt: nullable(anyObject),
  truncation: nullable(oneOf("auto", "disabled")),
  metadata: nullable(anyObject),
  store: nullable(Type.Boolean()),
  user: nullable(Type.String()),
  prompt_cache_key: nullable(Type.String()),
  stream_options: nullable(Type.Object({ include_obfuscation: nullable(Type.Boolean()) })),
  top_logprobs: nullable(Type.Integer({ minimum: 0, maximum: limits.topLogprobsMax })),
  max_tool_calls: nullable(Type.Integer()),
  safety_identifier: nullable(Type.String()),
  prompt_cache_options: promptCacheOptions,
  prompt_cache_retention: promptCacheRetention,
  moderation: nullable(anyObject),
});

/** Throws a GatewayError for the first field of a body that has the wrong type or is outside its domain. */
export const checkResponsesRequest = compileCheck(responsesRequest);
