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
  "cache-control": header("How long the file is stored.", "private, max-age=604800, immutable"),
  "content-disposition": header("Shown, not saved.", 'inline; filename="0f8fad5b.mp4"'),
  "x-content-type-options": header("Browsers must use the stated type.", "nosniff"),
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
          "Addresses in a task's results point here. No key is needed: everyone who has the address can read the file until it expires (by default after 7 days).",
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
            description: "For an image: a small copy as WebP with this width in pixels.",
            schema: Type.Unsafe({ type: "integer", enum: [160, 320, 640] }),
          },
          {
            name: "range",
            in: "header",
            required: false,
            description: "One range of bytes; for several, the answer is the whole file.",
            schema: Type.String(),
            example: "bytes=0-1023",
          },
        ],
        responses: {
          200: { description: "The whole file.", headers, content },
          206: {
            description: "The requested range.",
            headers: {
              ...headers,
              "content-range": header("The range of bytes.", "bytes 0-1023/48213"),
            },
            content,
          },
          304: { description: "The caller has this file already (`If-None-Match`)." },
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
