/** `POST /v1/embeddings` in the OpenAPI document. docs/decisions.md "Also served". */
import { Type } from "../../base/json-schema.ts";
import { embeddingsRequest, filteredNames } from "../../protocols/index.ts";
import { ref } from "../shapes/schema.ts";
import { headerRef, jsonContent, requestBody, type Part } from "./document.ts";
import { errorResponses, textCodes } from "./errors.ts";
import { readable } from "./request-schema.ts";

const request = readable(embeddingsRequest, {
  title: "EmbeddingsRequest",
  descriptions: {
    model: "An embedding model, with an optional suffix `:provider` or `:@strategy`.",
    input: "A text, texts, tokens, or lists of tokens. Each entry gets a vector.",
    dimensions: "The length of the vectors, if the model can shorten them.",
    encoding_format: "`base64`: 32-bit floats, little-endian; official SDKs ask for it.",
    user: "The end user's id; the same value goes to the same provider.",
  },
});

const embedding = Type.Object({
  object: Type.Literal("embedding"),
  index: Type.Integer({ description: "The index in `input`." }),
  embedding: Type.Union([Type.Array(Type.Number()), Type.String()]),
});

const response = Type.Object({
  id: Type.String({ description: "The vendor's id, or a new one." }),
  object: Type.Literal("list"),
  data: Type.Array(embedding),
  model: Type.String({ description: "The canonical model id." }),
  usage: Type.Optional(
    Type.Object({ prompt_tokens: Type.Integer(), total_tokens: Type.Optional(Type.Integer()) }),
  ),
  gw: Type.Optional(ref("Gw")),
});

export const embeddings: Part = {
  paths: {
    "/v1/embeddings": {
      post: {
        operationId: "createEmbedding",
        tags: ["Embeddings"],
        summary: "Vectors of texts",
        description: `For models of kind \`embedding\`. The body is passed on in the same shape and charged by its input tokens. Fields that are not listed are passed on; ${filteredNames} are never forwarded, and named in \`gw.droppedParams\`.`,
        requestBody: requestBody({
          schema: "EmbeddingsRequest",
          examples: {
            hello: {
              summary: "One text",
              value: { model: "sandbox/embedding", input: "Hello!" },
            },
            several: {
              summary: "Several texts, short vectors in base64",
              value: {
                model: "sandbox/embedding",
                input: ["Hello!", "Good-bye!"],
                dimensions: 8,
                encoding_format: "base64",
              },
            },
          },
        }),
        responses: {
          200: {
            description: "One vector for each entry, in order.",
            headers: { "x-request-id": headerRef("RequestId") },
            content: jsonContent("EmbeddingsResponse"),
          },
          ...errorResponses("chat", textCodes),
        },
      },
    },
  },
  schemas: { EmbeddingsRequest: request, EmbeddingsResponse: response },
};
