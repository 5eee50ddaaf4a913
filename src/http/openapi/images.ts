/** The two paths that make images while the caller waits, in the OpenAPI document. Requirements: IMG, EDIT1, EDIT2. */
import { Type, type TSchema } from "../../base/json-schema.ts";
import { oneOf, ref } from "../shapes/schema.ts";
import {
  headerRef,
  jsonContent,
  requestIdHeaders,
  type Node,
  type Operation,
  type Part,
} from "./document.ts";
import { creationCodes, errorResponses, uploadCodes } from "./errors.ts";
import { taskRequest } from "./task-request.ts";
import { idempotencyKey, replayed } from "./tasks.ts";
import { eventStream } from "./text-operation.ts";

const strict = { additionalProperties: false };

const details = (description: string) =>
  Type.Object(
    { image_tokens: Type.Integer(), text_tokens: Type.Integer() },
    { ...strict, description },
  );

const rendered = {
  background: oneOf("opaque", "transparent"),
  output_format: oneOf("png", "jpeg", "webp"),
  quality: oneOf("low", "medium", "high"),
  size: Type.String({
    description: "As the picture really is, never `auto`.",
    pattern: String.raw`^\d+x\d+$`,
    examples: ["1024x1024"],
  }),
};

const base64: TSchema = Type.String({ contentEncoding: "base64" });

const kind = (name: string): TSchema => oneOf(`image_generation.${name}`, `image_edit.${name}`);

const event = (name: string, members: Record<string, TSchema>) =>
  Type.Object(
    {
      type: kind(name),
      b64_json: base64,
      created_at: Type.Integer({ description: "Unix time in seconds." }),
      ...rendered,
      ...members,
    },
    strict,
  );

const schemas = {
  ImageRequest: taskRequest("images"),
  ImageEditForm: taskRequest("edits", { multipart: true }),
  ImageUsage: Type.Object(
    {
      input_tokens: Type.Integer(),
      output_tokens: Type.Integer(),
      total_tokens: Type.Integer(),
      input_tokens_details: details("Of the prompt, and of the pictures sent along."),
      output_tokens_details: details("Of the pictures, and of text about them."),
    },
    { ...strict, description: "What the call is charged by." },
  ),
  ImageGw: Type.Object(
    {
      task_id: Type.String({
        pattern: "^task_",
        description: "The same work as a task that has ended: `GET /v1/tasks/{id}` reads it.",
      }),
      generation_id: Type.String({ description: "The request's id, as in `x-request-id`." }),
      provider: Type.String(),
      cost_nano: Type.String({
        pattern: String.raw`^\d+$`,
        description: "What was charged, in thousand-millionths of a USD.",
      }),
      images: Type.Array(
        Type.Object({ index: Type.Integer(), url: Type.String({ format: "uri" }) }, strict),
        { description: "The same pictures in our own storage, until the retention of files." },
      ),
      notes: Type.Array(Type.String(), {
        description: "What was changed in the request, as `<parameter>: <why>`.",
      }),
    },
    { ...strict, description: "On the second form of edits only (`image-b` models)." },
  ),
  ImageAnswer: Type.Object(
    {
      created: Type.Integer({ description: "Unix time in seconds." }),
      data: Type.Array(
        Type.Object({ b64_json: base64, revised_prompt: Type.Optional(Type.String()) }, strict),
      ),
      ...rendered,
      usage: ref("ImageUsage"),
      gw: Type.Optional(ref("ImageGw")),
    },
    strict,
  ),
  ImageEvent: Type.Union([
    event("partial_image", { partial_image_index: Type.Integer({ minimum: 0 }) }),
    event("completed", { usage: ref("ImageUsage"), gw: Type.Optional(ref("ImageGw")) }),
    Type.Object(
      {
        type: Type.Literal("error"),
        error: Type.Unsafe({ $ref: "#/components/schemas/Error/properties/error" }),
      },
      { ...strict, description: "The stream failed; nothing was charged." },
    ),
  ]),
};

/** The version of the interface of these two paths, which their descriptions carry (VER-02). */
const interfaceVersion = "1.0.0";

const about = (what: string): string =>
  [
    `${what} Interface version ${interfaceVersion}.`,
    "Without `model` it is the model of the family `image-a`. Which values the fields take depends on the model: `GET /v1/models` tells its exact domains. The pictures always come as base64.",
    "At most what the call can cost is reserved at first; charged is what was used, and nothing unless there is a picture. A provider that may have begun is never asked again: such a call fails with `x-should-retry: false`.",
    "A client that leaves a stream pays for the input and the previews it had been sent; one that leaves before anything came pays nothing.",
  ].join("\n\n");

const streamExample = `event: image_edit.partial_image
data: {"type":"image_edit.partial_image","b64_json":"iVBORw0K","created_at":1767225600,"background":"opaque","output_format":"png","quality":"low","size":"1024x1024","partial_image_index":0}

`;

const codes = [
  ...creationCodes.filter((code) => !code.startsWith("prompt_or_") && !code.startsWith("media_")),
  "n_must_be_one_when_streaming",
  "upstream_rejected",
  "content_policy_violation",
  "rate_limit_exceeded",
  "upstream_error",
  "upstream_timeout",
] as const;

const answer: Node = {
  description: "The pictures: whole, or as events where a stream was asked for.",
  headers: {
    ...requestIdHeaders("chat"),
    ...replayed,
    "x-gw-dropped-params": headerRef("DroppedParams"),
  },
  content: {
    ...jsonContent("ImageAnswer"),
    ...eventStream(
      "ImageEvent",
      "With `stream: true`: previews, then the picture; each event is named by its `type`.",
      streamExample,
    ),
  },
};

const generate: Operation = {
  operationId: "createImage",
  tags: ["Images"],
  summary: "Make images",
  description: about(
    "Makes images from a prompt and answers with them. Fields the model does not have are dropped and named in `x-gw-dropped-params`.",
  ),
  parameters: [idempotencyKey],
  requestBody: {
    required: true,
    content: jsonContent("ImageRequest", {
      examples: {
        image: {
          summary: "An image",
          value: {
            model: "sandbox/image-model-a",
            prompt: "A paper boat on a pond",
            size: "1024x1024",
            quality: "low",
          },
        },
      },
    }),
  },
  responses: { 200: answer, ...errorResponses("chat", codes) },
};

const edit: Operation = {
  operationId: "createImageEdit",
  tags: ["Images"],
  summary: "Edit images",
  description: about(
    "Edits a picture, or makes one from several. The model chooses the form: with `image-a` models unknown fields are refused and nothing streams; with `image-b` models they are dropped and named in `gw.notes`.",
  ),
  parameters: [idempotencyKey],
  requestBody: {
    required: true,
    content: { "multipart/form-data": { schema: ref("ImageEditForm") } },
  },
  responses: {
    200: answer,
    ...errorResponses("chat", [...codes, "unknown_parameter", ...uploadCodes]),
  },
};

export const images: Part = {
  paths: {
    "/v1/images/generations": { post: generate },
    "/v1/images/edits": { post: edit },
  },
  schemas,
};
