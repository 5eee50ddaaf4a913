/** `GET /files/{name}` in the OpenAPI document. Requirements: STORE. */
import { Type } from "../../base/json-schema.ts";
import { headerRef, type Node, type Part } from "./document.ts";
import { errorResponses } from "./errors.ts";

const header = (description: string, example: string): Node => ({
  description,
  schema: Type.String(),
  example,
});

const headers: Node = {
  "x-request-id": headerRef("RequestId"),
  etag: header("For `If-None-Match` and `If-Range`.", '"0f8fad5bd9cb469fa16570867728950e.mp4"'),
  "accept-ranges": header("Ranges of bytes are served.", "bytes"),
  "cache-control": header("Until when it is kept.", "private, max-age=604800, immutable"),
  "content-disposition": header("Shown, not saved.", 'inline; filename="0f8fad5b.mp4"'),
  "x-content-type-options": header("The type is as it is said to be.", "nosniff"),
};

const binary = Type.Unsafe({ type: "string", format: "binary" });
const content: Node = Object.fromEntries(
  ["video/mp4", "video/webm", "image/png", "image/jpeg", "image/webp"].map((type) => [
    type,
    { schema: binary },
  ]),
);

export const files: Part = {
  paths: {
    "/files/{name}": {
      get: {
        operationId: "getFile",
        tags: ["Files"],
        security: [],
        summary: "A produced file",
        description:
          "The addresses in a task's results lead here. No key is needed: whoever has the address has the file, until it expires (7 days if the operator did not say otherwise).",
        parameters: [
          {
            name: "name",
            in: "path",
            required: true,
            schema: Type.String(),
            example: "0f8fad5bd9cb469fa16570867728950e.mp4",
          },
          {
            name: "width",
            in: "query",
            required: false,
            description: "Of a picture: a small copy as WebP, so many pixels wide.",
            schema: Type.Unsafe({ type: "integer", enum: [160, 320, 640] }),
          },
          {
            name: "range",
            in: "header",
            required: false,
            description: "One range of bytes; several are answered with the whole file.",
            schema: Type.String(),
            example: "bytes=0-1023",
          },
        ],
        responses: {
          200: { description: "The whole file.", headers, content },
          206: {
            description: "The range that was asked for.",
            headers: { ...headers, "content-range": header("Which bytes.", "bytes 0-1023/48213") },
            content,
          },
          304: { description: "The caller has it already (`If-None-Match`)." },
          ...errorResponses("chat", [
            "invalid_value",
            "not_found",
            "range_not_satisfiable",
            "internal_error",
            "database_unavailable",
            "overloaded",
          ]),
        },
      },
    },
  },
  schemas: {},
};
