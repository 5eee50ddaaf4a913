/** Reads tasks: one of a workspace, or a page of them. Tasks of other workspaces look as if they did not exist (TASK-42). */
import { GatewayError } from "../base/errors.ts";
import type { Queryable } from "../storage/index.ts";
import { toJob, toTask, type Job, type TaskRow } from "./rows.ts";
import type { ListedTask, Task, TaskFilter, TaskPage } from "./types.ts";

async function readRow(
  database: Queryable,
  workspaceId: string,
  id: string,
): Promise<TaskRow | undefined> {
  const [row] = await database.query<TaskRow>(
    "select * from tasks where workspace_id = $1 and id = $2",
    [workspaceId, id],
  );
  return row;
}

/** A task of the workspace. */
export async function readTask(
  database: Queryable,
  workspaceId: string,
  id: string,
): Promise<Task | undefined> {
  const row = await readRow(database, workspaceId, id);
  return row && toTask(row);
}

/** A task of the workspace with the fields that only the engine sees. */
export async function readJob(
  database: Queryable,
  workspaceId: string,
  id: string,
): Promise<Job | undefined> {
  const row = await readRow(database, workspaceId, id);
  return row && toJob(row);
}

/** All columns but the request, which may hold megabytes of pictures: a page of a hundred would not fit into memory (T86). */
const listedColumns = `t.workspace_id, t.id, t.key_id, t.member_id, t.kind, t.family, t.model, t.form, t.status, t.notes,
  t.reserved_nano, t.cost_nano, t.usage, t.artifacts, t.error, t.provider, t.attempts, t.webhook_url, t.created_at,
  t.updated_at, t.finished_at, t.expires_at, t.tags, t.end_user`;

/** The tasks with these names, in that order; unknown names are left out. */
export async function readTasks(
  database: Queryable,
  names: readonly { readonly workspaceId: string; readonly id: string }[],
): Promise<ListedTask[]> {
  const rows = await database.query<TaskRow>(
    `select ${listedColumns} from unnest($1::text[], $2::text[]) with ordinality n (workspace_id, id, place)
     join tasks t on t.workspace_id = n.workspace_id and t.id = n.id order by n.place`,
    [names.map((name) => name.workspaceId), names.map((name) => name.id)],
  );
  return rows.map(toTask);
}

const limitDefault = 20;
const limitMax = 100;

/** Tasks of the workspace, newest first. @throws GatewayError `invalid_value` if `after` is not one of them. */
export async function listTasks(
  database: Queryable,
  workspaceId: string,
  filter: TaskFilter,
): Promise<TaskPage> {
  const { status, model, after, limit = limitDefault } = filter;
  if (after !== undefined && !(await readTask(database, workspaceId, after))) {
    throw new GatewayError("invalid_value", `There is no task "${after.slice(0, 60)}".`, {
      param: "after",
    });
  }
  const size = Math.min(Math.max(limit, 1), limitMax);
  // Ids sort by creation time.
  const rows = await database.query<TaskRow>(
    `select ${listedColumns} from tasks t where workspace_id = $1
       and ($2::text is null or status = $2) and ($3::text is null or model = $3) and ($4::text is null or id < $4)
     order by id desc limit $5`,
    [workspaceId, status ?? null, model ?? null, after ?? null, size + 1],
  );
  return { tasks: rows.slice(0, size).map(toTask), hasMore: rows.length > size };
}
