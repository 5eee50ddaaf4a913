/** Videos in their vendors' own shapes, in the OpenAPI document. Requirements: NVID, ALIAS, ARK. */
import { Type } from "../../base/json-schema.ts";
import {
  jsonContent,
  requestBody,
  requestIdHeaders,
  type Operation,
  type Part,
  type RequestBody,
} from "./document.ts";
import { creationCodes, errorResponses, readingCodes, type ErrorStyle } from "./errors.ts";
import { taskRequest } from "./task-request.ts";
import { idempotencyKey, replayed, taskId } from "./tasks.ts";

interface Named extends Pick<Operation, "operationId" | "summary" | "description"> {
  readonly style: ErrorStyle;
  readonly answer: string;
}

function creating(named: Named & { readonly request: RequestBody }): Operation {
  const { style, request, answer, ...told } = named;
  return {
    ...told,
    tags: ["Videos"],
    parameters: [idempotencyKey],
    requestBody: requestBody(request),
    responses: {
      200: {
        description: "Accepted; the reservation is in place.",
        headers: { ...requestIdHeaders(style), ...replayed },
        content: jsonContent(answer),
      },
      ...errorResponses(style, creationCodes),
    },
  };
}

/** An operation on one task. */
function naming(named: Named & { readonly cancels?: boolean }): Operation {
  const { style, answer, cancels, ...told } = named;
  return {
    ...told,
    tags: ["Videos"],
    parameters: [taskId],
    responses: {
      200: {
        description: cancels ? "Canceled." : "The task, in every state.",
        headers: requestIdHeaders(style),
        content: jsonContent(answer),
      },
      ...errorResponses(style, [
        ...readingCodes,
        "task_not_found",
        ...(cancels ? (["task_not_cancelable"] as const) : []),
      ]),
    },
  };
}

const arkRequest = Type.Object({
  model: Type.String({ description: "`vendor/model` of a video model." }),
  content: Type.Array(
    Type.Unsafe<object>({
      oneOf: [
        Type.Object({ type: Type.Literal("text"), text: Type.String() }),
        Type.Object({
          type: Type.Literal("image_url"),
          image_url: Type.Object({ url: Type.String() }),
          role: Type.Optional(
            Type.String({ enum: ["first_frame", "last_frame", "reference_image"] }),
          ),
        }),
      ],
    }),
    { description: "The prompt, and images by their role; a single image is the first frame." },
  ),
  resolution: Type.Optional(Type.String()),
  ratio: Type.Optional(Type.String()),
  duration: Type.Optional(Type.Integer({ description: "Seconds." })),
  generate_audio: Type.Optional(Type.Boolean()),
  seed: Type.Optional(Type.Integer()),
  watermark: Type.Optional(Type.Boolean()),
  camera_fixed: Type.Optional(Type.Boolean()),
  execution_expires_after: Type.Optional(Type.Integer({ minimum: 3600, maximum: 259_200 })),
  safety_identifier: Type.Optional(Type.String()),
  callback_url: Type.Optional(
    Type.String({ description: "As `webhook_url` of `POST /v1/tasks`." }),
  ),
});

const boat = "A paper boat on a pond, the camera follows it";
const arkPath = "/api/v3/contents/generations/tasks";

export const videos: Part = {
  paths: {
    "/v1/videos/generations": {
      post: creating({
        operationId: "createVideo",
        summary: "Create a video in xAI's shape",
        description:
          "The same task as by `POST /v1/tasks`. Every path that reads tasks accepts its id. `GET /v1/tasks/{id}` has its cost.",
        style: "chat",
        request: {
          schema: "VideoRequest",
          examples: {
            video: {
              summary: "A video",
              value: { model: "sandbox/video-model-v1.5", prompt: boat, duration: 4 },
            },
          },
        },
        answer: "VideoRequestId",
      }),
    },
    "/v1/videos/{id}": {
      get: naming({
        operationId: "getVideo",
        summary: "Read a video in xAI's shape",
        description: "Video tasks only. A task that expired or was canceled is `failed`.",
        style: "chat",
        answer: "NativeVideo",
      }),
    },
    "/api/v1/tasks/{id}": {
      get: naming({
        operationId: "getDashscopeTask",
        summary: "Read a task in DashScope's shape",
        description: "Image tasks with `choices`, video tasks with `video_url`.",
        style: "dashscope",
        answer: "DashscopeTask",
      }),
    },
    "/api/v1/tasks/{id}/cancel": {
      post: naming({
        operationId: "cancelDashscopeTask",
        summary: "Cancel a task on DashScope's path",
        description: "As `POST /v1/tasks/{id}/cancel`.",
        style: "dashscope",
        answer: "DashscopeCanceled",
        cancels: true,
      }),
    },
    [arkPath]: {
      post: creating({
        operationId: "createArkTask",
        summary: "Create a video in Ark's shape",
        description:
          "Any video model. The `content` list has the prompt and the material; videos, audio and drafts are refused. Other fields are those of `POST /v1/tasks`.",
        style: "ark",
        request: {
          schema: "ArkTaskRequest",
          examples: {
            video: {
              summary: "A video",
              value: {
                model: "sandbox/video-model-tokens",
                content: [{ type: "text", text: boat }],
                ratio: "16:9",
                duration: 4,
              },
            },
          },
        },
        answer: "ArkTaskId",
      }),
    },
    [`${arkPath}/{id}`]: {
      get: naming({
        operationId: "getArkTask",
        summary: "Read a video in Ark's shape",
        description: "Video tasks only.",
        style: "ark",
        answer: "ArkTask",
      }),
      delete: naming({
        operationId: "deleteArkTask",
        summary: "Cancel a video on Ark's path",
        description:
          "As `POST /v1/tasks/{id}/cancel`. Tasks that have ended stay readable: they are not deleted.",
        style: "ark",
        answer: "ArkCanceled",
        cancels: true,
      }),
    },
  },
  schemas: { VideoRequest: taskRequest("videos"), ArkTaskRequest: arkRequest },
};
