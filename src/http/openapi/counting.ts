/** Token counting in the OpenAPI document: the messages and the generateContent protocols have an endpoint for it. */
import { Type } from "../../base/json-schema.ts";
import { countTokensRequest } from "../../protocols/index.ts";
import { ref } from "../shapes/schema.ts";
import {
  jsonContent,
  requestBody,
  requestIdHeaders,
  type Node,
  type Operation,
  type Part,
  type RequestBody,
} from "./document.ts";
import { countingCodes, errorResponses } from "./errors.ts";
import { modelInPath, spellings } from "./generate-content.ts";
import { readable } from "./request-schema.ts";

const messagesRequest = readable(countTokensRequest, {
  title: "CountTokensRequest",
  descriptions: {
    model: "`vendor/model`, with an optional suffix `:provider` or `:@strategy`.",
    messages: "The conversation so far.",
    system: "The system prompt; it is counted.",
    tools: "Tools; their definitions are counted.",
  },
});

const generateContentRequest = Type.Unsafe<object>({
  title: "GenerateContentCountRequest",
  description: "A request, or one under `generateContentRequest` with its tools and instruction.",
  anyOf: [
    Type.Object({ generateContentRequest: ref("GenerateContentRequest") }),
    ref("GenerateContentRequest"),
  ],
});

const about =
  "The vendor's count, if it counts in this protocol. Otherwise an estimate of everything that the model reads: system prompt, conversation, tools, images. Nothing is charged and nothing is sent to a model.";

interface Counting {
  readonly operationId: string;
  readonly style: "messages" | "generate_content";
  readonly about?: string;
  readonly parameters?: readonly Node[];
  readonly request: RequestBody;
  readonly answer: string;
}

function counting({ operationId, style, request, answer, ...options }: Counting): Operation {
  return {
    operationId,
    tags: ["Text"],
    summary: `Count the tokens of a request (${style === "messages" ? "messages" : "generateContent"} protocol)`,
    description: [about, ...(options.about === undefined ? [] : [options.about])].join("\n\n"),
    ...(options.parameters && { parameters: options.parameters }),
    requestBody: requestBody(request),
    responses: {
      200: {
        description: "The count.",
        headers: requestIdHeaders(style),
        content: jsonContent(answer),
      },
      ...errorResponses(style, [
        ...countingCodes,
        ...(style === "messages" ? [] : (["not_found"] as const)),
      ]),
    },
  };
}

const hello = { role: "user", parts: [{ text: "Hello!" }] };

export const counts: Part = {
  paths: {
    "/v1/messages/count_tokens": {
      post: counting({
        operationId: "countMessageTokens",
        style: "messages",
        request: {
          schema: "CountTokensRequest",
          examples: {
            hello: {
              summary: "One question",
              value: { model: "sandbox/messages", messages: [{ role: "user", content: "Hello!" }] },
            },
          },
        },
        answer: "CountTokensResponse",
      }),
    },
    "/v1beta/models/{model}:countTokens": {
      post: counting({
        operationId: "countTokens",
        style: "generate_content",
        about: spellings,
        parameters: [modelInPath],
        request: {
          schema: "GenerateContentCountRequest",
          examples: {
            hello: { summary: "One question", value: { contents: [hello] } },
            whole: {
              summary: "A whole request",
              value: {
                generateContentRequest: {
                  contents: [hello],
                  systemInstruction: { parts: [{ text: "Be brief." }] },
                },
              },
            },
          },
        },
        answer: "GenerateContentCountResponse",
      }),
    },
  },
  schemas: {
    CountTokensRequest: messagesRequest,
    CountTokensResponse: Type.Object({ input_tokens: Type.Integer() }),
    GenerateContentCountRequest: generateContentRequest,
    GenerateContentCountResponse: Type.Object({ totalTokens: Type.Integer() }),
  },
};
