/** `GET /v1/key` in the OpenAPI document. Requirements: KEY, AUTH. */
import { apiKeySchema } from "../shapes/key.ts";
import { jsonContent, requestIdHeaders, type Part } from "./document.ts";
import { errorResponses, readingCodes } from "./errors.ts";

export const keyPart: Part = {
  paths: {
    "/v1/key": {
      get: {
        operationId: "getKey",
        tags: ["Account"],
        summary: "The calling key: its limits, its spend and what is left",
        description: "Reads the database, so the numbers are current.",
        responses: {
          200: {
            description: "The key, without its secret.",
            headers: requestIdHeaders("chat"),
            content: jsonContent("ApiKey"),
          },
          ...errorResponses("chat", readingCodes),
        },
      },
    },
  },
  schemas: { ApiKey: apiKeySchema },
};
