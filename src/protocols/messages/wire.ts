/**
 * The messages request as we check it, and nothing more: fields we do not know pass to the upstream.
 * TXT-22. One schema gives the check, its errors and the API document.
 */
import { Type } from "../../base/json-schema.ts";
import { anyObject, nullable, oneOf, when } from "../wire-check.ts";
import { optionalTexts } from "../wire-fields.ts";

const cacheControl = nullable(
  Type.Object({ type: oneOf("ephemeral"), ttl: nullable(oneOf("5m", "1h")) }),
);

const sourceFields = {
  type: Type.String(),
  ...optionalTexts("media_type", "data", "url", "file_id"),
};

const sourceRules = [
  when("type", ["base64", "text"], { required: ["media_type", "data"] }),
  when("type", ["url"], { required: ["url"] }),
  when("type", ["file"], { required: ["file_id"] }),
];

const blockFields = {
  type: Type.String(),
  cache_control: cacheControl,
};

const textBlock = when("type", ["text"], {
  required: ["text"],
  properties: { text: Type.String() },
});

/** A text or a picture within a document. */
const piece = Type.Object(blockFields, {
  allOf: [
    textBlock,
    when("type", ["image"], {
      required: ["source"],
      properties: { source: Type.Object(sourceFields, { allOf: sourceRules }) },
    }),
  ],
});

/** Where an image's or a document's bytes are. Kinds we do not know are the upstream's business. */
const source = Type.Object(sourceFields, {
  allOf: [
    ...sourceRules,
    when("type", ["content"], {
      properties: { content: nullable(Type.Union([Type.String(), Type.Array(piece)])) },
    }),
  ],
});

const needsSource = when("type", ["image", "document"], {
  required: ["source"],
  properties: { source, ...optionalTexts("title", "context") },
});

/** What a search found, as a tool's result or by itself. */
const searchResult = when("type", ["search_result"], {
  properties: { ...optionalTexts("source", "title"), content: nullable(Type.Array(piece)) },
});

/** What a tool result or a system prompt may hold. */
const innerBlock = Type.Object(blockFields, { allOf: [textBlock, needsSource, searchResult] });

/** Any content block: of known kinds the required fields, of unknown kinds (server tools) only that they say their type. */
const block = Type.Object(blockFields, {
  allOf: [
    textBlock,
    needsSource,
    searchResult,
    when("type", ["tool_use"], {
      required: ["id", "name", "input"],
      properties: { id: Type.String(), name: Type.String(), input: anyObject },
    }),
    when("type", ["tool_result"], {
      required: ["tool_use_id"],
      properties: {
        tool_use_id: Type.String(),
        is_error: nullable(Type.Boolean()),
        content: nullable(Type.Union([Type.String(), Type.Array(innerBlock)])),
      },
    }),
    when("type", ["thinking"], {
      required: ["thinking"],
      properties: { thinking: Type.String(), signature: nullable(Type.String()) },
    }),
    when("type", ["redacted_thinking"], {
      required: ["data"],
      properties: { data: Type.String() },
    }),
  ],
});

const content = Type.Union([Type.String(), Type.Array(block)]);

/** The kind of it alone: what is in it is looked at once. */
const anyContent = Type.Union([Type.String(), Type.Array(Type.Unknown())]);

/** A system turn may say nothing but how hard the model is to think from there on. */
const message = Type.Object(
  {
    role: oneOf("user", "assistant", "system"),
    content: nullable(content),
    output_config: nullable(anyObject),
  },
  {
    anyOf: [
      { required: ["output_config"], properties: { role: { enum: ["system"] } } },
      { type: "object", required: ["content"], properties: { content: anyContent } },
    ],
  },
);

/**
 * The caller's own tools have no `type` or "custom"; others are the vendor's, and carry what they like.
 * The caller's own stand last: when neither schema matches, the error describes these.
 */
const anyTool = Type.Union([
  Type.Object({ type: Type.Unsafe<string>({ type: "string", not: { enum: ["custom"] } }) }),
  Type.Object({
    type: nullable(oneOf("custom")),
    name: Type.String({ minLength: 1 }),
    description: nullable(Type.String()),
    input_schema: anyObject,
    strict: nullable(Type.Boolean()),
    cache_control: cacheControl,
  }),
]);

const tool = Type.Object(optionalTexts("type"), { allOf: [anyTool] });

const toolChoice = Type.Object(
  {
    type: oneOf("auto", "any", "tool", "none"),
    name: nullable(Type.String()),
    disable_parallel_tool_use: nullable(Type.Boolean()),
  },
  {
    allOf: [when("type", ["tool"], { required: ["name"], properties: { name: Type.String() } })],
  },
);

const thinking = Type.Object(
  {
    type: oneOf("enabled", "adaptive", "disabled", "between_tools"),
    display: nullable(Type.String()),
  },
  {
    allOf: [
      when("type", ["enabled"], {
        required: ["budget_tokens"],
        properties: { budget_tokens: Type.Integer({ minimum: 1024 }) },
      }),
    ],
  },
);

const outputConfig = Type.Object({
  effort: nullable(Type.String()),
  format: nullable(
    Type.Object(
      { type: Type.String() },
      {
        allOf: [
          when("type", ["json_schema"], {
            required: ["schema"],
            properties: { schema: anyObject },
          }),
        ],
      },
    ),
  ),
});

const shared = {
  model: Type.String({ minLength: 1 }),
  messages: Type.Array(message, { minItems: 1 }),
  system: nullable(Type.Union([Type.String(), Type.Array(innerBlock)])),
  tools: nullable(Type.Array(tool)),
  tool_choice: nullable(toolChoice),
  thinking: nullable(thinking),
  output_config: nullable(outputConfig),
  cache_control: cacheControl,
};

/** The body of `POST /v1/messages`. */
export const messagesRequest = Type.Object({
  ...shared,
  max_tokens: Type.Integer({ minimum: 1 }),
  stop_sequences: nullable(Type.Array(Type.String())),
  stream: nullable(Type.Boolean()),
  temperature: nullable(Type.Number({ minimum: 0, maximum: 1 })),
  top_p: nullable(Type.Number({ minimum: 0, maximum: 1 })),
  top_k: nullable(Type.Integer({ minimum: 0 })),
  metadata: nullable(Type.Object({ user_id: nullable(Type.String()) })),
});

/** The body of `POST /v1/messages/count_tokens`: what of a request is input. */
export const countTokensRequest = Type.Object(shared);
