/**
 * Tasks in the unified shape: creating, reading, listing, canceling. Requirements: TASK;
 * docs/decisions.md "Cancel", docs/decisions.md "List", docs/decisions.md "Creation".
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { GatewayError, refusal } from "../../base/errors.ts";
import type { Catalog } from "../../catalog/index.ts";
import { resolveModelId } from "../../routing/index.ts";
import {
  isTaskStatus,
  isTerminal,
  renderUnified,
  taskStates,
  type SubmitResult,
  type Task,
  type TaskFilter,
} from "../../tasks/index.ts";
import { jsonCreation, multipartCreation, replayHeaders, submitCreation } from "./create-task.ts";
import { waitSecondsOf } from "../forms/creation-headers.ts";
import { handle } from "../handle.ts";
import { isForm } from "../forms/receive-form.ts";
import type { HttpServices } from "../services.ts";
import { isTaskId, taskOf } from "./task-caller.ts";

/** Adds the unified endpoints of tasks. */
export function registerTaskRoutes(app: FastifyInstance, services: HttpServices): void {
  void app.register((scope, _options, done) => {
    // The route reads the body itself, as it arrives.
    scope.addContentTypeParser("multipart/form-data", (_request, _payload, parsed) => parsed(null));
    handle(scope, "POST /v1/tasks", (request, reply) => create(services, { request, reply }));
    done();
  });
  const answer = (reply: FastifyReply, task: Task) =>
    reply.send(renderUnified(task, services.fileUrl));

  handle(app, "GET /v1/tasks/:id", async (request, reply) =>
    answer(reply, await taskOf(services, request)),
  );
  handle(app, "GET /v1/tasks", async (request, reply) => {
    const { workspaceId } = request.caller!;
    const page = await services.tasks.list(workspaceId, filterOf(services, request));
    const data = page.tasks.map((task) => renderUnified(task, services.fileUrl));
    const next = page.hasMore ? (data.at(-1)?.id ?? null) : null;
    return reply.send({ object: "list", data, has_more: page.hasMore, next });
  });
  const cancel = async (request: FastifyRequest, reply: FastifyReply) => {
    const task = await taskOf(services, request);
    return answer(reply, await services.tasks.cancel(task.workspaceId, task.id));
  };
  handle(app, "POST /v1/tasks/:id/cancel", cancel);
  handle(app, "DELETE /v1/tasks/:id", cancel);
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Creates the task. Then nothing holds the body any more, which may carry pictures: the answer may wait for a minute. */
async function submit(services: HttpServices, request: FastifyRequest): Promise<SubmitResult> {
  const creation = isForm(request)
    ? await multipartCreation(services, request)
    : await jsonCreation(request, "tasks");
  const result = await submitCreation(services, request, creation);
  request.body = undefined;
  request.lease!.release();
  return result;
}

async function create(services: HttpServices, { request, reply }: Exchange): Promise<FastifyReply> {
  const result = await submit(services, request);
  const waitSeconds = waitSecondsOf(request.headers);
  const task =
    waitSeconds === undefined
      ? result.task
      : await waitInPlace(services, { reply, task: result.task, waitSeconds });
  return reply
    .code(creationStatus(result, task))
    .headers({
      ...replayHeaders(result),
      ...(waitSeconds !== undefined && { "preference-applied": `wait=${waitSeconds}` }),
      ...(!isTerminal(task.status) && pollHeaders(task)),
      vary: reply.raw.hasHeader("vary") ? "Origin, Prefer" : "Prefer",
    })
    .send(renderUnified(task, services.fileUrl));
}

/** Waits until the task has ended, the wait time is over, or the client has left. A stopping gateway ends all waits by itself. */
async function waitInPlace(
  { tasks }: HttpServices,
  asked: { readonly reply: FastifyReply; readonly task: Task; readonly waitSeconds: number },
): Promise<Task> {
  const { raw } = asked.reply;
  const left = new AbortController();
  const leave = () => left.abort();
  raw.once("close", leave);
  // No event follows if the client left while its task was created.
  if (raw.destroyed) leave();
  try {
    return await tasks.wait(asked.task, asked.waitSeconds * 1000, left.signal);
  } finally {
    raw.off("close", leave);
  }
}

/**
 * The status of a creation's answer: 202 for image tasks that have not ended; videos answer 200 in every state (docs/decisions.md
 * "Creation").
 */
function creationStatus({ replayed }: SubmitResult, task: Task): number {
  return task.kind === "video" || replayed || isTerminal(task.status) ? 200 : 202;
}

const pollSeconds = { image: 3, video: 15 } as const;

const pollHeaders = (task: Task): Record<string, string> => ({
  location: `/v1/tasks/${task.id}`,
  "retry-after": String(pollSeconds[task.kind]),
});

const limitMax = 100;
const modelLengthMax = 256;

function filterOf({ text }: HttpServices, request: FastifyRequest): TaskFilter {
  const { status, model, after, limit } = request.query as Record<string, string | undefined>;
  if (status !== undefined && !isTaskStatus(status))
    throw refusal(
      "invalid_value",
      "status",
      `must be one of ${Object.keys(taskStates).join(", ")}`,
    );
  if (after !== undefined && !isTaskId(after))
    throw refusal(
      "invalid_value",
      "after",
      "must be the id of a task, such as the `next` of the previous page",
    );
  if (model !== undefined && (model.length > modelLengthMax || model.includes("\0")))
    throw refusal(
      "invalid_value",
      "model",
      `must be a model id of at most ${modelLengthMax} characters`,
    );
  return {
    status,
    model: model && idOf(model, text.catalog()),
    after,
    limit: limit === undefined ? undefined : limitOf(limit),
  };
}

/** Returns the model id that tasks store, from any name that they can be created with. Other text is kept: it matches no task. */
function idOf(model: string, catalog: Catalog): string {
  try {
    return resolveModelId(model, catalog).model;
  } catch (error) {
    if (error instanceof GatewayError) return model;
    throw error;
  }
}

function limitOf(text: string): number {
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (limit >= 1 && limit <= limitMax) return limit;
  throw refusal("invalid_value", "limit", `must be an integer from 1 to ${limitMax}`);
}
