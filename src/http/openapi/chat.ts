/** `POST /v1/chat/completions` in the OpenAPI document. TXT-01. */
import { Type } from "../../base/json-schema.ts";
import { requestSchemas } from "../../protocols/index.ts";
import { oneOf, orNull, ref } from "../shapes/schema.ts";
import { jsonContent, type Part } from "./document.ts";
import { requestExamples, weather, weatherQuestion } from "./examples.ts";
import { readable } from "./request-schema.ts";
import { eventStream, textOperation } from "./text-operation.ts";

const request = readable(requestSchemas.chat, {
  title: "ChatRequest",
  descriptions: {
    model: "`vendor/model`, with an optional suffix `:provider` or `:@strategy`.",
    models:
      "Up to three other models, tried in this order if no provider of `model` can answer. The answer's `model` says which one answered; its price applies.",
    messages: "The conversation so far.",
    max_completion_tokens: "The maximum number of output tokens, including reasoning.",
    max_tokens: "The older name of `max_completion_tokens`.",
    stop: "Up to four sequences where the answer ends.",
    tools: "Functions the model may call. Other kinds of tools pass to the upstream.",
    response_format: "Constrains the answer: `text`, `json_object` or `json_schema`.",
    reasoning_effort: "The efforts depend on the model; its upstream refuses others.",
    stream: "True: the answer as server-sent events.",
    stream_options: "`include_usage`: one more chunk before the end, with the usage.",
    user: "The end user's id; the same value goes to the same provider where possible.",
    prompt_cache_key:
      "Like `user`, and takes precedence: the same value goes to the same provider. Claude caches the prompts of calls that have it.",
  },
});

const toolCall = Type.Object({
  id: Type.String(),
  type: Type.Literal("function"),
  function: Type.Object({
    name: Type.String(),
    arguments: Type.String({ description: "JSON, as text." }),
  }),
});

const usage = Type.Object({
  prompt_tokens: Type.Integer({ description: "Cache reads included." }),
  completion_tokens: Type.Integer({ description: "Reasoning included." }),
  total_tokens: Type.Integer(),
  prompt_tokens_details: Type.Optional(
    orNull(Type.Object({ cached_tokens: Type.Optional(Type.Integer()) })),
  ),
  completion_tokens_details: Type.Optional(
    orNull(Type.Object({ reasoning_tokens: Type.Optional(Type.Integer()) })),
  ),
});

const head = {
  id: Type.String(),
  created: Type.Integer({ description: "Unix time in seconds." }),
  model: Type.String({ description: "The canonical model id." }),
};

const finishReasons = ["stop", "length", "tool_calls", "content_filter", "function_call"];

const chatCompletion = Type.Object({
  ...head,
  object: Type.Literal("chat.completion"),
  choices: Type.Array(
    Type.Object({
      index: Type.Integer(),
      message: Type.Object({
        role: Type.Literal("assistant"),
        content: orNull(Type.String()),
        refusal: Type.Optional(orNull(Type.String())),
        tool_calls: Type.Optional(Type.Array(toolCall)),
      }),
      logprobs: Type.Optional(orNull(Type.Object({}))),
      finish_reason: oneOf(...finishReasons),
    }),
  ),
  usage: Type.Optional(usage),
  gw: Type.Optional(ref("Gw")),
});

const chunk = Type.Object({
  ...head,
  object: Type.Unsafe({
    type: "string",
    enum: ["chat.completion.chunk", "error"],
    description: "`error` on the last chunk of a stream that broke.",
  }),
  choices: Type.Array(
    Type.Object({
      index: Type.Optional(
        Type.Integer({ description: "Absent on the last chunk of a stream that broke." }),
      ),
      delta: Type.Object({
        role: Type.Optional(Type.String()),
        content: Type.Optional(orNull(Type.String())),
        tool_calls: Type.Optional(
          Type.Array(
            Type.Object({
              index: Type.Integer({ description: "The call to which a piece belongs." }),
              id: Type.Optional(Type.String()),
              type: Type.Optional(Type.String()),
              function: Type.Optional(
                Type.Object({
                  name: Type.Optional(Type.String()),
                  arguments: Type.Optional(Type.String()),
                }),
              ),
            }),
          ),
        ),
      }),
      finish_reason: Type.Optional(orNull(oneOf(...finishReasons, "error"))),
    }),
  ),
  usage: Type.Optional(orNull(usage)),
  error: Type.Optional(
    Type.Object(
      { message: Type.String(), code: orNull(Type.String()) },
      { description: "Only on the last chunk of a stream that broke." },
    ),
  ),
});

const hello = { model: "sandbox/chat", messages: [{ role: "user", content: "Hello!" }] };

const withTool = {
  messages: [{ role: "user", content: weatherQuestion }],
  tools: [{ type: "function", function: weather }],
};

export const chat: Part = {
  paths: {
    "/v1/chat/completions": {
      post: textOperation({
        operationId: "createChatCompletion",
        summary: "Answer a conversation (chat-completions protocol)",
        about: "For the `openai` SDKs: base URL `{this host}/v1`.",
        style: "chat",
        request: {
          schema: "ChatRequest",
          examples: {
            ...requestExamples(hello, withTool),
            stream: {
              summary: "A stream, with its usage at the end",
              value: { ...hello, stream: true, stream_options: { include_usage: true } },
            },
            dropped: {
              summary: "A parameter that is dropped and reported",
              value: { ...hello, service_tier: "flex" },
            },
          },
        },
        answer: {
          ...jsonContent("ChatCompletion"),
          ...eventStream(
            "ChatCompletionChunk",
            "Frames `data: <ChatCompletionChunk>`; the last one is `data: [DONE]`.",
            'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1767225600,"model":"sandbox/chat","choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"},"finish_reason":null}]}\n\ndata: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1767225600,"model":"sandbox/chat","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
          ),
        },
      }),
    },
  },
  schemas: { ChatRequest: request, ChatCompletion: chatCompletion, ChatCompletionChunk: chunk },
};
