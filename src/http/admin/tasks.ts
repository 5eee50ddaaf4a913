/** Tasks over the management API: the unified shape, and what their operators want to know. docs/management.md. */
import { Type } from "../../base/json-schema.ts";
import {
  findVisible,
  listVisible,
  renderAttempts,
  taskTrail,
  visibilityOf,
  type RowName,
} from "../../admin/index.ts";
import { formatUsd } from "../../base/money.ts";
import { readTasks, renderUnified, taskStates, type ListedTask } from "../../tasks/index.ts";
import { oneOf, orNull, timestamp, usd } from "../shapes/schema.ts";
import { taskShapes } from "../shapes/task.ts";
import type { AdminServices } from "../services.ts";
import { route } from "./route.ts";
import {
  pageOfQuery,
  pageQuery,
  pageSchema,
  renderPage,
  strict,
  timeBody,
  timeOf,
  words,
} from "./schemas.ts";

const states = Object.keys(taskStates) as (keyof typeof taskStates)[];

const task = Type.Object({
  ...taskShapes.Task.properties,
  workspace_id: Type.String(),
  key_id: Type.String(),
  kind: oneOf("image", "video"),
  family: Type.String(),
  form: Type.String({ description: "Which endpoint made it." }),
  provider: orNull(Type.String()),
  reserved: usd("What was held while it ran."),
  webhook_url: orNull(Type.String()),
  attempts: Type.Array(Type.Unsafe<object>({ type: "object" })),
  updated_at: timestamp("When it last moved."),
  finished_at: orNull(timestamp("When it ended.")),
  expires_at: timestamp("When it becomes `expired` unless it has ended."),
});

/** A task as the lists show it; `inside`: to those who run the installation. */
export function renderTask(services: AdminServices, one: ListedTask, inside: boolean): object {
  return {
    ...renderUnified(one, services.fileUrl),
    workspace_id: one.workspaceId,
    key_id: one.keyId,
    kind: one.kind,
    family: one.family,
    form: one.form,
    provider: one.provider,
    reserved: formatUsd(one.reservedNano),
    webhook_url: one.webhookUrl,
    attempts: renderAttempts(one.attempts, inside),
    updated_at: one.updatedAt.toISOString(),
    finished_at: one.finishedAt?.toISOString() ?? null,
    expires_at: one.expiresAt.toISOString(),
  };
}

async function renderAll(
  services: AdminServices,
  names: readonly RowName[],
  inside: boolean,
): Promise<object[]> {
  const tasks = await readTasks(services.database, names);
  return tasks.map((one) => renderTask(services, one, inside));
}

const list = route({
  method: "GET",
  path: "/tasks",
  operationId: "listAllTasks",
  summary: "Tasks of every workspace you see, newest first",
  description:
    "Workspace admins see their workspaces, members what their own keys made. `from` counts, `to` does not.",
  action: "task.read",
  query: strict({
    workspace_id: Type.Optional(Type.String()),
    key_id: Type.Optional(Type.String()),
    model: Type.Optional(Type.String()),
    status: Type.Optional(words(...states)),
    from: Type.Optional(timeBody),
    to: Type.Optional(timeBody),
    ...pageQuery,
  }),
  answer: { name: "TaskRecords", schema: pageSchema(task) },
  async handle({ services, actor, query }) {
    const { key_id, model, status } = query;
    const visibility = visibilityOf(actor, "task.read");
    const { names, nextCursor } = await listVisible(services.database, taskTrail, {
      ...pageOfQuery(query),
      visibility,
      workspaceId: query.workspace_id,
      from: timeOf(query.from, "from"),
      to: timeOf(query.to, "to"),
      equal: { key_id, model, status },
    });
    const data = await renderAll(services, names, visibility.everything);
    return { body: renderPage({ nextCursor }, data) };
  },
});

const read = route({
  method: "GET",
  path: "/tasks/{id}",
  operationId: "getAnyTask",
  summary: "One task, with its attempts",
  action: "task.read",
  answer: { name: "TaskRecord", schema: task },
  errors: ["not_found"],
  async handle({ services, actor, params }) {
    const visibility = visibilityOf(actor, "task.read");
    const name = await findVisible(services.database, taskTrail, params["id"]!, visibility);
    const [rendered] = await renderAll(services, [name], visibility.everything);
    return { body: rendered! };
  },
});

export const taskRoutes = [list, read];
