/** Looks up the task in a request's path. */
import type { FastifyRequest } from "fastify";
import { GatewayError } from "../../base/errors.ts";
import type { Task } from "../../tasks/index.ts";
import type { HttpServices } from "../services.ts";

/**
 * Returns the caller's task that the path names; if `kind` is given, only of that kind.
 * @throws GatewayError `task_not_found`, with the same text for unknown tasks and for tasks of others (TASK-42)
 */
export async function taskOf(
  { tasks }: HttpServices,
  request: FastifyRequest,
  kind?: Task["kind"],
): Promise<Task> {
  const { id } = request.params as { id: string };
  const task = isTaskId(id) ? await tasks.read(request.caller!.workspaceId, id) : undefined;
  if (task === undefined || (kind !== undefined && task.kind !== kind)) {
    const message = `The task ${id.slice(0, 100)} is not found.`;
    throw new GatewayError("task_not_found", message, { param: "id" });
  }
  return task;
}

/** True if a text has the form of a task's id. */
export const isTaskId = (text: string): boolean => /^task_\w{1,60}$/.test(text);
