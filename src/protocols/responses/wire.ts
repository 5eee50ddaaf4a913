/**
 * The request of the responses protocol as far as it is checked: field types and domains.
 * Unknown fields, items and hosted tools pass. RESP-01 to RESP-50.
 */
import { Type } from "../../base/json-schema.ts";
import { anyObject, compileCheck, nullable, oneOf, when } from "../wire-check.ts";
import {
  declarationFields,
  functionFields,
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
      properties: { image_url: nullable(Type.String()), file_id: nullable(Type.String()) },
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

const item = Type.Unsafe<object>({
  type: "object",
  properties: { type: nullable(Type.String()) },
  allOf: [
    when("type", ["message"], messageRule),
    // Without a type it is a message, or a reference to an item by its id.
    { anyOf: [{ required: ["type"] }, { required: ["id"] }, messageRule] },
    when("type", ["function_call"], strings("call_id", "name", "arguments")),
    when("type", ["function_call_output"], {
      required: ["call_id", "output"],
      properties: { call_id: { type: "string" }, output: content },
    }),
    when("type", ["computer_call_output"], {
      properties: { output: Type.Object({ prompt_cache_breakpoint: promptCacheBreakpoint }) },
    }),
  ],
});

const tool = Type.Unsafe<object>({
  type: "object",
  required: ["type"],
  properties: { type: { type: "string" } },
  allOf: [when("type", ["function"], { required: ["name"], properties: functionFields })],
});

const toolChoice = Type.Unsafe<object>({
  anyOf: [
    oneOf("none", "auto", "required"),
    {
      type: "object",
      required: ["type"],
      properties: { type: { type: "string" } },
      allOf: [when("type", ["function"], strings("name"))],
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

/** The body of `POST /v1/responses`. `service_tier` and `previous_response_id` are never forwarded, so never wrong. */
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
  // Its values are the model's affair: the upstream refuses those it does not know (RESP-24).
  reasoning: nullable(anyObject),
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
