/** Renders a task for the management API: the unified shape, and fields for operators. docs/management.md. */
import { Type } from "../../base/json-schema.ts";
import { renderAttempts } from "../../admin/index.ts";
import { formatUsd } from "../../base/money.ts";
import { fileExpiries } from "../../files/index.ts";
import { renderParameters, renderUnified, type ListedTask, type Task } from "../../tasks/index.ts";
import { oneOf, orNull, timestamp, usd } from "../shapes/schema.ts";
import { taskShapes } from "../shapes/task.ts";
import type { AdminServices } from "../services.ts";

export const taskShape = Type.Object({
  ...taskShapes.Task.properties,
  workspace_id: Type.String(),
  key_id: Type.String(),
  member_id: orNull(Type.String({ description: "Who made the key." })),
  kind: oneOf("image", "video"),
  family: Type.String(),
  form: Type.String({ description: "The endpoint that created it." }),
  provider: orNull(Type.String()),
  reserved: usd("The amount held while it ran."),
  webhook_url: orNull(Type.String()),
  attempts: Type.Array(Type.Unsafe<object>({ type: "object" })),
  outputs_until: orNull(
    timestamp("When its files expire; null: it has none, or they are deleted."),
  ),
  updated_at: timestamp("When its state last changed."),
  finished_at: orNull(timestamp("When it ended.")),
  expires_at: timestamp("When it becomes `expired` unless it has ended."),
  tags: orNull(
    Type.Unsafe<object>({
      type: "object",
      additionalProperties: { type: "string" },
      description: "The caller's tags: names and values.",
    }),
  ),
  end_user: orNull(Type.String({ description: "The end user, as sent by the caller." })),
});

export const wholeTaskSchema = {
  name: "TaskRecord",
  schema: Type.Object({
    ...taskShape.properties,
    parameters: Type.Unsafe<object>({
      type: "object",
      description: "The parameters, without texts and material.",
    }),
  }),
};

interface ViewContext {
  readonly services: AdminServices;
  /** True if the reader is an organization admin. */
  readonly isOrganizationAdmin: boolean;
}

type Kept = ReadonlyMap<string, Date>;

/** Returns when the files of these tasks expire, by file name, in one query. */
export const keptFiles = (
  { database, clock }: AdminServices,
  tasks: readonly ListedTask[],
): Promise<Kept> => {
  const names = tasks.flatMap(({ artifacts }) => artifacts.map(({ name }) => name));
  return fileExpiries(database, names, new Date(clock.now()));
};

export function renderTask(
  { services, isOrganizationAdmin }: ViewContext,
  one: ListedTask,
  kept: Kept,
): object {
  return {
    ...renderUnified(one, services.fileUrl),
    workspace_id: one.workspaceId,
    key_id: one.keyId,
    member_id: one.memberId,
    kind: one.kind,
    family: one.family,
    form: one.form,
    provider: one.provider,
    reserved: formatUsd(one.reservedNano),
    webhook_url: one.webhookUrl,
    attempts: renderAttempts(one.attempts, isOrganizationAdmin),
    outputs_until: untilOf(one, kept),
    updated_at: one.updatedAt.toISOString(),
    finished_at: one.finishedAt?.toISOString() ?? null,
    expires_at: one.expiresAt.toISOString(),
    tags: one.tags,
    end_user: one.endUser,
  };
}

/** Renders tasks for a list. */
export async function renderTasks(
  viewContext: ViewContext,
  tasks: readonly ListedTask[],
): Promise<object[]> {
  const kept = await keptFiles(viewContext.services, tasks);
  return tasks.map((one) => renderTask(viewContext, one, kept));
}

/** The time when the first of its files expires; null if one is gone already, or there are none. */
function untilOf({ artifacts }: ListedTask, kept: Kept): string | null {
  const ends = artifacts.map(({ name }) => kept.get(name)?.getTime() ?? 0);
  const first = Math.min(...ends);
  return artifacts.length === 0 || first === 0 ? null : new Date(first).toISOString();
}

/** Renders one task, with its parameters. */
export async function renderWholeTask(viewContext: ViewContext, task: Task): Promise<object> {
  const [rendered] = await renderTasks(viewContext, [task]);
  return { ...rendered, parameters: renderParameters(task.request) };
}
