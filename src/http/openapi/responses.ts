/** `POST /v1/responses` in the OpenAPI document. Requirements: RESP. */
import { Type } from "../../base/json-schema.ts";
import { requestSchemas } from "../../protocols/index.ts";
import { oneOf, orNull, ref } from "../shapes/schema.ts";
import { byType, jsonContent, type Part } from "./document.ts";
import { requestExamples, weather, weatherQuestion } from "./examples.ts";
import { readable } from "./request-schema.ts";
import { eventStream, textOperation } from "./text-operation.ts";

const request = readable(requestSchemas.responses, {
  title: "ResponsesRequest",
  descriptions: {
    model: "`vendor/model`, with an optional suffix `:provider` or `:@strategy`.",
    input:
      "A string is one user message. A list mixes messages, `function_call` and `function_call_output` items.",
    instructions: "The system prompt.",
    stream: "True: the answer as named server-sent events.",
    tools: "Functions the model may call, flat: `{type, name, description, parameters}`.",
    text: "`format` constrains the answer to JSON; `verbosity` is `low`, `medium` or `high`.",
    reasoning:
      "`effort`, `summary`, `mode`, `context`. The values depend on the model; its upstream refuses others.",
    user: "The end user's id; the same value goes to the same provider where possible.",
    prompt_cache_key:
      "Like `user`, and takes precedence: the same value goes to the same provider. Claude caches the prompts of calls that have it.",
    max_output_tokens: "The maximum number of output tokens, including reasoning.",
  },
});

const outputItem = byType(["message", "function_call", "reasoning"], {
  message: Type.Object({
    id: Type.String(),
    role: Type.Literal("assistant"),
    status: Type.String(),
    content: Type.Array(
      Type.Object({
        type: oneOf("output_text", "refusal"),
        text: Type.Optional(Type.String()),
        refusal: Type.Optional(Type.String()),
      }),
    ),
  }),
  function_call: Type.Object({
    call_id: Type.String(),
    name: Type.String(),
    arguments: Type.String({ description: "JSON, as text." }),
  }),
});

const response = Type.Object({
  id: Type.String(),
  object: Type.Literal("response"),
  created_at: Type.Integer({ description: "Unix time in seconds." }),
  model: Type.String({ description: "The canonical model id." }),
  status: oneOf("completed", "incomplete", "failed", "in_progress", "cancelled", "queued"),
  output: Type.Array(outputItem),
  usage: orNull(
    Type.Object({
      input_tokens: Type.Integer({ description: "Cache reads included." }),
      output_tokens: Type.Integer({ description: "Reasoning included." }),
      total_tokens: Type.Integer(),
      input_tokens_details: Type.Optional(Type.Object({ cached_tokens: Type.Integer() })),
      output_tokens_details: Type.Optional(Type.Object({ reasoning_tokens: Type.Integer() })),
    }),
  ),
  error: orNull(Type.Object({ code: Type.String(), message: Type.String() })),
  incomplete_details: orNull(
    Type.Object({ reason: Type.String({ examples: ["max_output_tokens", "content_filter"] }) }),
  ),
  gw: Type.Optional(ref("Gw")),
});

const event = Type.Object(
  {
    type: Type.String({
      description: "The same name as the frame's `event:` line.",
      examples: [
        "response.created",
        "response.output_item.added",
        "response.output_text.delta",
        "response.function_call_arguments.delta",
        "response.output_item.done",
        "response.completed",
        "response.incomplete",
        "response.failed",
        "error",
      ],
    }),
    sequence_number: Type.Integer({ minimum: 0 }),
    response: Type.Optional(ref("Response")),
    output_index: Type.Optional(Type.Integer()),
    item: Type.Optional(outputItem),
    item_id: Type.Optional(Type.String()),
    delta: Type.Optional(Type.String()),
  },
  { description: "One event; its fields depend on its type." },
);

const hello = { model: "sandbox/responses", input: "Hello!" };

const withTool = {
  input: [{ role: "user", content: weatherQuestion }],
  tools: [{ type: "function", ...weather }],
};

export const responses: Part = {
  paths: {
    "/v1/responses": {
      post: textOperation({
        operationId: "createResponse",
        summary: "Answer a conversation (responses protocol)",
        about:
          "For the `openai` SDKs and Codex: base URL `{this host}/v1`. The gateway stores no conversations: send the whole context in `input`. `previous_response_id` is dropped and reported.",
        style: "chat",
        request: {
          schema: "ResponsesRequest",
          examples: requestExamples(hello, withTool),
        },
        answer: {
          ...jsonContent("Response"),
          ...eventStream(
            "ResponseStreamEvent",
            "Named events `event: <type>`, `data: <ResponseStreamEvent>`. The last event, such as `response.completed`, carries the usage.",
            'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"Hi"}\n\n',
          ),
        },
      }),
    },
  },
  schemas: { ResponsesRequest: request, Response: response, ResponseStreamEvent: event },
};
