/** The unified endpoints of tasks in the OpenAPI document. Requirements: TASK. */
import { Type } from "../../base/json-schema.ts";
import { taskStates } from "../../tasks/index.ts";
import { ref } from "../shapes/schema.ts";
import {
  headerRef,
  jsonContent,
  requestIdHeaders,
  type Node,
  type Operation,
  type Part,
} from "./document.ts";
import { creationCodes, errorResponses, readingCodes, uploadCodes } from "./errors.ts";
import { taskRequest } from "./task-request.ts";
import { taskShapes } from "../shapes/task.ts";

export const taskId: Node = {
  name: "id",
  in: "path",
  required: true,
  description: "The task's id. An unknown id and the id of another workspace get the same answer.",
  schema: Type.String(),
  example: "task_01kacw5v2pf6q8p5b0d6m1x7yt",
};

/** The idempotency header of every operation that creates a task. */
export const idempotencyKey: Node = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "1 to 255 printable ASCII characters. For 24 hours the same key with the same request creates nothing new: the answer is the current task, with `Idempotent-Replayed: true`. With another request the key is refused.",
  schema: Type.String({ minLength: 1, maxLength: 255 }),
};

export const replayed: Node = {
  "idempotent-replayed": {
    description: "`true` if the task existed already under this idempotency key.",
    schema: Type.String({ enum: ["true"] }),
  },
};

const prefer: Node = {
  name: "Prefer",
  in: "header",
  required: false,
  description:
    "`wait=N` holds the answer until the task has ended, at most N seconds, at most 60. A client that leaves cancels nothing.",
  schema: Type.String(),
};

const creationHeaders: Node = {
  ...requestIdHeaders("chat"),
  ...replayed,
  "preference-applied": {
    description: "The maximum wait, if `Prefer: wait` was sent.",
    schema: Type.String(),
    example: "wait=60",
  },
  location: {
    description: "Where to read the task; absent after it has ended.",
    schema: Type.String(),
  },
  "retry-after": headerRef("RetryAfter"),
};

const aboutCreation = [
  "Accepts an image or video task and answers at once. The fields and their values depend on the model; `GET /v1/models` has the exact domains. Without an input image an image task generates an image, with one or more it edits them.",
  "The body is JSON, or `multipart/form-data` for an image task with input images. In multipart bodies all fields are text. Video tasks take the addresses of their material in JSON.",
  "The gateway reserves the maximum cost of the task at once, and charges the output. Nothing is charged unless the task succeeds. Fields that the model does not have are dropped and named in `notes`.",
  "Read the result at `GET /v1/tasks/{id}`, get it at `webhook_url`, or wait in the request with `Prefer: wait=60`.",
].join("\n\n");

const video = {
  model: "sandbox/video-model-v1",
  prompt: "A paper boat on a pond, the camera follows it",
  duration: 4,
  resolution: "480p",
};

const create: Operation = {
  operationId: "createTask",
  tags: ["Tasks"],
  summary: "Create an image or video task",
  description: aboutCreation,
  parameters: [idempotencyKey, prefer],
  requestBody: {
    required: true,
    content: {
      ...jsonContent("TaskRequest", {
        examples: {
          video: { summary: "A video", value: video },
          material: {
            summary: "A video from its first frame",
            value: {
              ...video,
              image: {
                url: "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
              },
            },
          },
        },
      }),
      "multipart/form-data": { schema: ref("TaskForm") },
    },
  },
  responses: {
    200: {
      description:
        "Video tasks in every state. Image tasks that have ended because the call waited, or that exist already under this idempotency key.",
      headers: creationHeaders,
      content: jsonContent("Task"),
    },
    202: {
      description: "An image task was accepted, and its reservation is in place.",
      headers: creationHeaders,
      content: jsonContent("Task"),
    },
    ...errorResponses("chat", [...creationCodes, ...uploadCodes]),
  },
};

const taskAnswer = (description: string): Node => ({
  200: { description, headers: requestIdHeaders("chat"), content: jsonContent("Task") },
});

const read: Operation = {
  operationId: "getTask",
  tags: ["Tasks"],
  summary: "Read a task",
  description:
    "Answers 200 in every state; `status` has the state. Poll every 2 to 5 seconds for images, and every 15 for videos.",
  parameters: [taskId],
  responses: {
    ...(taskAnswer("The task.") as Operation["responses"]),
    ...errorResponses("chat", [...readingCodes, "task_not_found"]),
  },
};

const aboutCancel =
  "A queued task ends at once. A running one ends only if its vendor confirms the cancellation; otherwise it goes on, and the answer is 409. A task that was canceled before is answered unchanged. Nothing is charged.";

const cancel = (operationId: string): Operation => ({
  operationId,
  tags: ["Tasks"],
  summary: "Cancel a task",
  description: aboutCancel,
  parameters: [taskId],
  responses: {
    ...(taskAnswer("The canceled task.") as Operation["responses"]),
    ...errorResponses("chat", [...readingCodes, "task_not_found", "task_not_cancelable"]),
  },
});

const query = (name: string, description: string, schema: object): Node => ({
  name,
  in: "query",
  required: false,
  description,
  schema,
});

const list: Operation = {
  operationId: "listTasks",
  tags: ["Tasks"],
  summary: "List the workspace's tasks, newest first",
  description: "Page by page: send `next` as `after` until `has_more` is false.",
  parameters: [
    query("status", "Only tasks in this state.", { type: "string", enum: Object.keys(taskStates) }),
    query("model", "Only tasks of this model.", Type.String()),
    query("after", "The last task of the page before.", Type.String()),
    query("limit", "Tasks per page.", Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
  ],
  responses: {
    200: {
      description: "One page.",
      headers: requestIdHeaders("chat"),
      content: jsonContent("TaskList"),
    },
    ...errorResponses("chat", ["invalid_value", ...readingCodes]),
  },
};

export const tasks: Part = {
  paths: {
    "/v1/tasks": { post: create, get: list },
    "/v1/tasks/{id}": { get: read, delete: cancel("deleteTask") },
    "/v1/tasks/{id}/cancel": { post: cancel("cancelTask") },
  },
  schemas: {
    ...taskShapes,
    TaskRequest: taskRequest("tasks"),
    TaskForm: taskRequest("tasks", { multipart: true }),
  },
};
