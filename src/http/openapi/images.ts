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
    description: "The actual size of the image, never `auto`.",
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
      input_tokens_details: details("Tokens of the prompt and the input images."),
      output_tokens_details: details("Tokens of the images, and of text about them."),
    },
    { ...strict, description: "The usage that is charged." },
  ),
  ImageGw: Type.Object(
    {
      task_id: Type.String({
        pattern: "^task_",
        description: "The call as an ended task: `GET /v1/tasks/{id}` reads it.",
      }),
      generation_id: Type.String({ description: "The request's id, as in `x-request-id`." }),
      provider: Type.String(),
      cost_nano: Type.String({
        pattern: String.raw`^\d+$`,
        description: "The charge in nano-USD.",
      }),
      images: Type.Array(
        Type.Object({ index: Type.Integer(), url: Type.String({ format: "uri" }) }, strict),
        { description: "The same images in the gateway's storage, until the retention of files." },
      ),
      notes: Type.Array(Type.String(), {
        description: "Changes in the request, as `<parameter>: <why>`.",
      }),
    },
    { ...strict, description: "Only for edits with `image-b` models." },
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
    "Without `model` the model of the family `image-a` is used. The values of the fields depend on the model; `GET /v1/models` has the exact domains. The images are always base64.",
    "The gateway reserves the maximum cost of the call first, and charges the actual usage. Without an image nothing is charged. If a provider may have begun, it is not asked again: the call fails with `x-should-retry: false`.",
    "A client that leaves a stream pays for the input and the previews that it received. One that leaves before any data pays nothing.",
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
  description: "The images: whole, or as events if a stream was requested.",
  headers: {
    ...requestIdHeaders("chat"),
    ...replayed,
    "x-gw-dropped-params": headerRef("DroppedParams"),
  },
  content: {
    ...jsonContent("ImageAnswer"),
    ...eventStream(
      "ImageEvent",
      "With `stream: true`: previews, then the image. The name of each event is its `type`.",
      streamExample,
    ),
  },
};

const generate: Operation = {
  operationId: "createImage",
  tags: ["Images"],
  summary: "Make images",
  description: about(
    "Makes images from a prompt. Fields that the model does not have are dropped and named in `x-gw-dropped-params`.",
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
    "Edits an image, or makes one from several. The form depends on the model. With `image-a` models unknown fields are refused, and there are no streams. With `image-b` models unknown fields are dropped and named in `gw.notes`.",
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
