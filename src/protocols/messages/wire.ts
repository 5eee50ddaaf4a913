/**
 * Schema of the messages request. Unknown fields pass to the upstream. TXT-22. One schema gives the check, its errors and the API document.
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

/** A text or picture in a document. */
const piece = Type.Object(blockFields, {
  allOf: [
    textBlock,
    when("type", ["image"], {
      required: ["source"],
      properties: { source: Type.Object(sourceFields, { allOf: sourceRules }) },
    }),
  ],
});

/** The source of an image's or document's bytes. The upstream decides on unknown kinds. */
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

/** A search result, in a tool result or alone. */
const searchResult = when("type", ["search_result"], {
  properties: { ...optionalTexts("source", "title"), content: nullable(Type.Array(piece)) },
});

/** A block of a tool result or system prompt. */
const innerBlock = Type.Object(blockFields, { allOf: [textBlock, needsSource, searchResult] });

/** Any content block: known kinds need their required fields; unknown kinds (server tools) need only a type. */
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
      properties: { thinking: Type.String(), signature: nullable(Type.String()) },
      // Some clients keep only the signature of thinking that is not displayed.
      anyOf: [{ required: ["signature"] }, { required: ["thinking"] }],
    }),
    when("type", ["redacted_thinking"], {
      required: ["data"],
      properties: { data: Type.String() },
    }),
  ],
});

const content = Type.Union([Type.String(), Type.Array(block)]);

/** Checks only the type of the content: its items are validated once, above. */
const anyContent = Type.Union([Type.String(), Type.Array(Type.Unknown())]);

/** A system turn may have only an `output_config`, which sets the effort from there on. */
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
 * The caller's own tools have no `type` or "custom"; others are the vendor's and may have any members. The caller's own come last: if
 * neither schema matches, the error describes this one.
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

/** The value of some clients for what is not set (unset-sampling.ts). */
const unset = (type: string) => Type.Unsafe<number>({ type, enum: [-1] });

/** The body of `POST /v1/messages`. */
export const messagesRequest = Type.Object({
  ...shared,
  max_tokens: Type.Integer({ minimum: 1 }),
  stop_sequences: nullable(Type.Array(Type.String())),
  stream: nullable(Type.Boolean()),
  temperature: nullable(Type.Number({ minimum: 0, maximum: 1 })),
  top_p: nullable(Type.Union([unset("number"), Type.Number({ minimum: 0, maximum: 1 })])),
  top_k: nullable(Type.Union([unset("integer"), Type.Integer({ minimum: 0 })])),
  metadata: nullable(Type.Object({ user_id: nullable(Type.String()) })),
});

/** The body of `POST /v1/messages/count_tokens`: the input of a request. */
export const countTokensRequest = Type.Object(shared);
