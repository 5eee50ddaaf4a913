/** `POST /v1/messages` in the OpenAPI document. TXT-03. */
import { Type } from "../../base/json-schema.ts";
import { requestSchemas } from "../../protocols/index.ts";
import { oneOf, orNull, ref } from "../shapes/schema.ts";
import { byType, jsonContent, type Node, type Part } from "./document.ts";
import { requestExamples, weather, weatherQuestion } from "./examples.ts";
import { readable } from "./request-schema.ts";
import { eventStream, textOperation } from "./text-operation.ts";

const request = readable(requestSchemas.messages, {
  title: "MessagesRequest",
  descriptions: {
    model: "`vendor/model`, with an optional suffix `:provider` or `:@strategy`.",
    max_tokens: "The maximum number of output tokens, including thinking. Required.",
    messages: "The conversation so far.",
    system: "The system prompt.",
    tools: "The caller's own tools, and the vendor's, which pass to the upstream.",
    thinking: "Extended thinking, with its budget in tokens.",
    stop_sequences: "Sequences where the answer ends.",
    stream: "True: the answer as named server-sent events.",
    metadata: "`user_id`: the end user's id; the same value goes to the same provider.",
  },
});

const block = byType(["text", "tool_use", "thinking"], {
  text: Type.Object({ text: Type.String() }),
  tool_use: Type.Object({ id: Type.String(), name: Type.String(), input: Type.Object({}) }),
  thinking: Type.Object({ thinking: Type.String(), signature: Type.Optional(Type.String()) }),
});

const usage = Type.Object({
  input_tokens: Type.Integer({ description: "Without cache reads and writes." }),
  output_tokens: Type.Integer({ description: "Thinking included." }),
  cache_read_input_tokens: Type.Optional(orNull(Type.Integer())),
  cache_creation_input_tokens: Type.Optional(orNull(Type.Integer())),
});

const message = Type.Object({
  id: Type.String(),
  type: Type.Literal("message"),
  role: Type.Literal("assistant"),
  model: Type.String({ description: "The canonical model id." }),
  content: Type.Array(block),
  stop_reason: orNull(
    oneOf(
      "end_turn",
      "max_tokens",
      "stop_sequence",
      "tool_use",
      "pause_turn",
      "refusal",
      "model_context_window_exceeded",
    ),
  ),
  stop_sequence: orNull(Type.String()),
  usage,
  gw: Type.Optional(ref("Gw")),
});

const event = Type.Object(
  {
    type: oneOf(
      "message_start",
      "content_block_start",
      "content_block_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
      "ping",
      "error",
    ),
    message: Type.Optional(ref("Message")),
    index: Type.Optional(Type.Integer({ description: "The index of the content block." })),
    content_block: Type.Optional(block),
    delta: Type.Optional(Type.Object({}, { description: "`text_delta`, `input_json_delta`, ..." })),
    usage: Type.Optional(
      Type.Object(
        { output_tokens: Type.Optional(Type.Integer()) },
        { description: "On `message_delta`: the final numbers." },
      ),
    ),
    error: Type.Optional(Type.Object({ type: Type.String(), message: Type.String() })),
  },
  { description: "One event; its fields depend on its type." },
);

const hello = {
  model: "sandbox/messages",
  max_tokens: 256,
  messages: [{ role: "user", content: "Hello!" }],
};

const { parameters, ...declared } = weather;
const withTool = {
  messages: [{ role: "user", content: weatherQuestion }],
  tools: [{ ...declared, input_schema: parameters }],
};

const vendorHeader = (name: string): Node => ({
  name,
  in: "header",
  required: false,
  description: "Passed on to upstreams of this protocol.",
  schema: Type.String(),
});

export const messages: Part = {
  paths: {
    "/v1/messages": {
      post: textOperation({
        operationId: "createMessage",
        summary: "Answer a conversation (messages protocol)",
        about: "For the `anthropic` SDKs and Claude Code: base URL `{this host}`, without `/v1`.",
        style: "messages",
        parameters: [vendorHeader("anthropic-version"), vendorHeader("anthropic-beta")],
        request: {
          schema: "MessagesRequest",
          examples: requestExamples(hello, withTool),
        },
        answer: {
          ...jsonContent("Message"),
          ...eventStream(
            "MessageStreamEvent",
            "Named events `event: <type>`, `data: <MessageStreamEvent>`, from `message_start` to `message_stop`.",
            'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}\n\n',
          ),
        },
      }),
    },
  },
  schemas: { MessagesRequest: request, Message: message, MessageStreamEvent: event },
};
