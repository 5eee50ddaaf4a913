/** Reads one task in its four shapes, and cancels it, over the management API. docs/management.md. */
import { findVisible, taskTable, visibilityOf, writeAudit } from "../../admin/index.ts";
import { Type } from "../../base/json-schema.ts";
import { notFound } from "../../tenancy/index.ts";
import {
  readTask,
  renderArk,
  renderDashscope,
  renderNative,
  renderUnified,
  type Task,
} from "../../tasks/index.ts";
import { orNull, ref } from "../shapes/schema.ts";
import { route, type AdminRequest } from "./route.ts";
import { strict } from "./schemas.ts";
import { renderWholeTask, wholeTaskSchema } from "./task-views.ts";

type Asking = Pick<AdminRequest<unknown, unknown>, "services" | "actor" | "params">;

/** Returns the task that the path names, if the actor has the right to `action`. @throws GatewayError `not_found` */
export async function taskFor(
  { services, actor, params }: Asking,
  action: "task.read" | "task.cancel",
): Promise<Task> {
  const { database } = services;
  const visibility = visibilityOf(actor, action);
  const { workspaceId, id } = await findVisible(database, taskTable, params["id"]!, visibility);
  const task = await readTask(database, workspaceId, id);
  if (task === undefined) throw notFound("task");
  return task;
}

const shapes = route({
  method: "GET",
  path: "/tasks/{id}/shapes",
  operationId: "getTaskShapes",
  summary: "One task in each shape in which callers can read it",
  action: "task.read",
  answer: {
    name: "TaskInShapes",
    schema: Type.Object({
      unified: ref("Task"),
      native: orNull(ref("NativeVideo")),
      alias: ref("DashscopeTask"),
      ark: orNull(ref("ArkTask")),
    }),
  },
  errors: ["not_found"],
  async handle(request) {
    const task = await taskFor(request, "task.read");
    const { fileUrl } = request.services;
    const isVideo = task.kind === "video";
    return {
      body: {
        unified: renderUnified(task, fileUrl),
        native: isVideo ? renderNative(task, fileUrl) : null,
        alias: renderDashscope(task, fileUrl, request.requestId),
        ark: isVideo ? renderArk(task, fileUrl) : null,
      },
    };
  },
});

const cancel = route({
  method: "POST",
  path: "/tasks/{id}/cancel",
  operationId: "cancelAnyTask",
  summary: "Cancel a task, by the same rule as for its caller",
  description:
    "A queued task ends at once, a running one if the vendor confirms the cancellation. A canceled one is answered unchanged.",
  action: "task.cancel",
  body: strict({}),
  answer: wholeTaskSchema,
  errors: ["not_found", "task_not_found", "task_not_cancelable"],
  async handle(request) {
    const { services, actor, requestId } = request;
    const before = await taskFor(request, "task.cancel");
    const { workspaceId, id, memberId } = before;
    const after = await services.cancelTask(workspaceId, id);
    if (before.status !== after.status)
      await writeAudit(services, {
        actor,
        requestId,
        action: "task.cancel",
        object: { type: "task", id },
        place: { workspaceId, ownerId: memberId },
        before: { status: before.status },
        after: { status: after.status },
      });
    const isOrganizationAdmin = visibilityOf(actor, "task.read").everything;
    return { body: await renderWholeTask({ services, isOrganizationAdmin }, after) };
  },
});

export const taskMoveRoutes = [shapes, cancel];
