/** The generateContent endpoints in the OpenAPI document. TXT-04; docs/decisions.md "Streams of generateContent". */
import { Type } from "../../base/json-schema.ts";
import { requestSchemas } from "../../protocols/index.ts";
import { ref } from "../shapes/schema.ts";
import { jsonContent, type Node, type Part } from "./document.ts";
import { weather, weatherQuestion } from "./examples.ts";
import { readable } from "./request-schema.ts";
import { eventStream, textOperation } from "./text-operation.ts";

const request = readable(requestSchemas.generate_content, {
  title: "GenerateContentRequest",
  descriptions: {
    contents: "The conversation so far. Every field is read in camelCase and in snake_case.",
    systemInstruction: "The system prompt.",
    tools: "`functionDeclarations` the model may call. Other kinds of tools pass to the upstream.",
    generationConfig: "Settings of the answer: sampling, length, JSON output, thinking.",
    safetySettings: "Passed on.",
  },
});

const part = Type.Object({
  text: Type.Optional(Type.String()),
  thought: Type.Optional(Type.Boolean({ description: "True on a summary of the reasoning." })),
  thoughtSignature: Type.Optional(Type.String({ description: "Send it back unchanged." })),
  functionCall: Type.Optional(
    Type.Object({
      id: Type.Optional(Type.String()),
      name: Type.String(),
      args: Type.Optional(Type.Object({})),
    }),
  ),
});

const response = Type.Object({
  candidates: Type.Optional(
    Type.Array(
      Type.Object({
        index: Type.Optional(Type.Integer()),
        content: Type.Optional(
          Type.Object({
            role: Type.Optional(Type.String()),
            parts: Type.Optional(Type.Array(part)),
          }),
        ),
        finishReason: Type.Optional(Type.String({ examples: ["STOP", "MAX_TOKENS", "SAFETY"] })),
      }),
    ),
  ),
  promptFeedback: Type.Optional(
    Type.Object(
      {},
      { description: "The reason why a prompt was blocked; then there are no candidates." },
    ),
  ),
  usageMetadata: Type.Optional(
    Type.Object({
      promptTokenCount: Type.Optional(Type.Integer({ description: "Cache reads included." })),
      candidatesTokenCount: Type.Optional(Type.Integer({ description: "Thoughts excluded." })),
      thoughtsTokenCount: Type.Optional(Type.Integer()),
      cachedContentTokenCount: Type.Optional(Type.Integer()),
      totalTokenCount: Type.Optional(Type.Integer()),
    }),
  ),
  modelVersion: Type.String({ description: "The canonical model id." }),
  responseId: Type.Optional(Type.String()),
  gw: Type.Optional(ref("Gw")),
});

export const modelInPath: Node = {
  name: "model",
  in: "path",
  required: true,
  description:
    "`vendor/model`, with an optional suffix `:provider` or `:@strategy`. Write the slash as `/` or `%2F`.",
  schema: Type.String(),
  example: "sandbox/generate-content",
};

const alt: Node = {
  name: "alt",
  in: "query",
  required: false,
  description: "`sse`: server-sent events. Without it the stream is one JSON array.",
  schema: { type: "string", enum: ["sse", "json"] },
  example: "sse",
};

export const spellings =
  "The same call is answered at `/v1/models/{model}:...` and `/v1beta/{vendor}/{model}:...`, which current SDKs send. Under `/v1beta` the key is also read from `?key=`.";

const hello = { contents: [{ role: "user", parts: [{ text: "Hello!" }] }] };
const examples = {
  hello: { summary: "One question", value: hello },
  tools: {
    summary: "A function call",
    value: {
      contents: [{ role: "user", parts: [{ text: weatherQuestion }] }],
      tools: [
        {
          functionDeclarations: [weather],
        },
      ],
    },
  },
};

export const generateContent: Part = {
  paths: {
    "/v1beta/models/{model}:generateContent": {
      post: textOperation({
        operationId: "generateContent",
        summary: "Answer a conversation (generateContent protocol)",
        about: `For the \`google-genai\` SDKs and Gemini CLI: base URL \`{this host}\`. ${spellings}`,
        style: "generate_content",
        parameters: [modelInPath],
        extraCodes: ["not_found"],
        request: { schema: "GenerateContentRequest", examples },
        answer: jsonContent("GenerateContentResponse"),
      }),
    },
    "/v1beta/models/{model}:streamGenerateContent": {
      post: textOperation({
        operationId: "streamGenerateContent",
        summary: "Answer a conversation as a stream (generateContent protocol)",
        about: spellings,
        style: "generate_content",
        parameters: [modelInPath, alt],
        extraCodes: ["not_found"],
        request: { schema: "GenerateContentRequest", examples: { hello: examples.hello } },
        answer: {
          ...eventStream(
            "GenerateContentResponse",
            "With `alt=sse`: frames `data: <GenerateContentResponse>`, each with a part of the answer.",
            'data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Hi"}]},"finishReason":"STOP","index":0}],"modelVersion":"sandbox/generate-content"}\n\n',
          ),
          "application/json": {
            schema: Type.Array(ref("GenerateContentResponse"), {
              description: "Without `alt=sse`: the same frames as the elements of one array.",
            }),
          },
        },
      }),
    },
  },
  schemas: { GenerateContentRequest: request, GenerateContentResponse: response },
};
