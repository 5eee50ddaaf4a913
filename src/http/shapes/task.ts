/** The shapes in which tasks are read, in the OpenAPI document. Requirements: TASK, NVID, ALIAS, ARK. */
import { Type } from "../../base/json-schema.ts";
import { taskStates } from "../../tasks/index.ts";
import { oneOf, orNull, ref, timestamp, usd } from "./schema.ts";

const states = Object.entries(taskStates)
  .map(([name, { meaning, ledger }]) => `- \`${name}\`: ${meaning} ${ledger}`)
  .join("\n");

const tokens = {
  input_tokens: Type.Integer(),
  output_tokens: Type.Integer(),
  total_tokens: Type.Integer(),
};
const strict = { additionalProperties: false };

const indexedUrls = (description: string) =>
  Type.Array(Type.Object({ index: Type.Integer(), url: Type.String({ format: "uri" }) }, strict), {
    description,
  });

const failure = (description: string) =>
  Type.Object({ message: Type.String(), code: Type.String() }, { ...strict, description });

/** The schemas by name. */
export const taskShapes = {
  Task: Type.Object(
    {
      id: Type.String({ pattern: "^task_", examples: ["task_01kacw5v2pf6q8p5b0d6m1x7yt"] }),
      status: Type.Unsafe({
        type: "string",
        enum: Object.keys(taskStates),
        description: `The last four never change.\n\n${states}`,
      }),
      model: Type.String({ description: "The model's id, without a suffix." }),
      created_at: timestamp("When it was accepted."),
      output: Type.Object(
        {
          images: indexedUrls("Always empty on video tasks."),
          videos: Type.Optional(indexedUrls("On video tasks only.")),
        },
        {
          ...strict,
          description:
            "The results, in the gateway's storage. Addresses work until the retention of files.",
        },
      ),
      usage: ref("TaskUsage"),
      cost: usd("The charge in USD: `0` until the task has succeeded."),
      notes: Type.Optional(
        Type.Array(Type.String(), {
          minItems: 1,
          description: "Changes in the request, as `<parameter>: <why>`. Absent if there are none.",
        }),
      ),
      error: Type.Optional(failure("On failed, expired and canceled tasks.")),
    },
    strict,
  ),
  TaskUsage: Type.Unsafe<object>({
    description: "The usage by which the model is billed. All zero until the task has succeeded.",
    oneOf: [
      Type.Object(
        { output_images: Type.Integer(), input_images: Type.Integer() },
        { ...strict, title: "Images" },
      ),
      Type.Object(tokens, { ...strict, title: "Tokens" }),
      Type.Object(
        {
          ...tokens,
          output_video_seconds: Type.Number({ description: "Seconds of produced video." }),
        },
        { ...strict, title: "Video by seconds" },
      ),
      Type.Object(
        { ...tokens, output_video_tokens: Type.Integer() },
        { ...strict, title: "Video by tokens", description: "The other three are 0." },
      ),
    ],
  }),
  TaskList: Type.Object({
    object: Type.Literal("list"),
    data: Type.Array(ref("Task"), { description: "Newest first." }),
    has_more: Type.Boolean(),
    next: orNull(Type.String({ description: "Send it as `after` for the next page." })),
  }),
  VideoRequestId: Type.Object(
    { request_id: Type.String({ description: "The task's id, valid on every path." }) },
    strict,
  ),
  NativeVideo: Type.Object(
    {
      status: oneOf("pending", "done", "failed"),
      model: Type.String(),
      video: Type.Optional(
        Type.Object(
          {
            url: Type.String({ format: "uri" }),
            duration: Type.Number({ description: "Seconds of produced video." }),
          },
          { ...strict, description: "Only of a succeeded task." },
        ),
      ),
      error: Type.Optional(failure("Only of a failed, expired or canceled task.")),
    },
    strict,
  ),
  DashscopeTask: Type.Object({
    request_id: Type.String(),
    output: Type.Object({
      task_id: Type.String(),
      task_status: Type.Unsafe({
        type: "string",
        enum: ["PENDING", "SUCCEEDED", "FAILED", "CANCELED"],
        description: "`PENDING` covers all work in progress; an expired task is `FAILED`.",
      }),
      choices: Type.Optional(
        Type.Array(
          Type.Object({
            finish_reason: Type.Literal("stop"),
            message: Type.Object({
              role: Type.Literal("assistant"),
              content: Type.Array(
                Type.Object({ type: Type.Literal("image"), image: Type.String({ format: "uri" }) }),
              ),
            }),
          }),
          { description: "One per picture, of a succeeded image task." },
        ),
      ),
      video_url: Type.Optional(Type.String({ description: "Of a succeeded video task." })),
      code: Type.Optional(Type.String()),
      message: Type.Optional(Type.String()),
    }),
  }),
  DashscopeCanceled: Type.Object({ request_id: Type.String() }),
  ArkTask: Type.Object({
    id: Type.String(),
    model: Type.String(),
    status: oneOf("queued", "running", "succeeded", "failed", "cancelled", "expired"),
    content: Type.Optional(Type.Object({ video_url: Type.String({ format: "uri" }) })),
    usage: Type.Optional(
      Type.Object({
        completion_tokens: Type.Integer({ description: "The tokens the video is billed by." }),
        total_tokens: Type.Integer(),
        tool_usage: Type.Object({ web_search: Type.Integer() }),
      }),
    ),
    error: Type.Optional(failure("Of a failed task.")),
    created_at: Type.Integer({ description: "Unix time in seconds." }),
    updated_at: Type.Integer({ description: "Unix time in seconds." }),
  }),
  ArkTaskId: Type.Object({ id: Type.String() }, strict),
  ArkCanceled: Type.Object({}),
};
