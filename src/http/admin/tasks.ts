/** Tasks over the management API: the unified shape, and fields for operators. docs/management.md. */
import { Type } from "../../base/json-schema.ts";
import { listVisible, taskTable, visibilityOf } from "../../admin/index.ts";
import { readTasks, taskStates } from "../../tasks/index.ts";
import { route } from "./route.ts";
import {
  filterText,
  pageOfQuery,
  pageQuery,
  pageSchema,
  renderPage,
  strict,
  periodOf,
  periodQuery,
  words,
} from "./schemas.ts";
import { tagConditions, tagFilters } from "./tag-filters.ts";
import { taskFor } from "./task-moves.ts";
import { renderTasks, renderWholeTask, taskShape, wholeTaskSchema } from "./task-views.ts";

const states = Object.keys(taskStates) as (keyof typeof taskStates)[];

const list = route({
  method: "GET",
  path: "/tasks",
  operationId: "listAllTasks",
  summary: "Tasks of every workspace you see, newest first",
  description:
    "Workspace admins see their workspaces, members the tasks of their own keys. `from` is inclusive, `to` exclusive. With `tag` or `end_user` a page scans about 50,000 rows and may be short although `has_more` is true.",
  action: "task.read",
  query: strict({
    workspace_id: filterText,
    key_id: filterText,
    model: filterText,
    member_id: filterText,
    kind: Type.Optional(words("image", "video")),
    provider: filterText,
    status: Type.Optional(words(...states)),
    ...periodQuery,
    ...tagFilters,
    ...pageQuery,
  }),
  answer: { name: "TaskRecords", schema: pageSchema(taskShape) },
  async handle({ services, actor, query }) {
    const { key_id, member_id, kind, provider, model, status } = query;
    const visibility = visibilityOf(actor, "task.read");
    const { names, nextCursor } = await listVisible(services.database, taskTable, {
      ...pageOfQuery(query),
      visibility,
      workspaceId: query.workspace_id,
      ...periodOf(query),
      equal: { key_id, member_id, kind, provider, model, status },
      rare: tagConditions(query),
    });
    const tasks = await readTasks(services.database, names);
    const data = await renderTasks({ services, isOrganizationAdmin: visibility.everything }, tasks);
    return { body: renderPage({ nextCursor }, data) };
  },
});

const read = route({
  method: "GET",
  path: "/tasks/{id}",
  operationId: "getAnyTask",
  summary: "One task, with its attempts and its parameters",
  action: "task.read",
  answer: wholeTaskSchema,
  errors: ["not_found"],
  async handle(request) {
    const { services, actor } = request;
    const isOrganizationAdmin = visibilityOf(actor, "task.read").everything;
    const task = await taskFor(request, "task.read");
    return { body: await renderWholeTask({ services, isOrganizationAdmin }, task) };
  },
});

export const taskRoutes = [list, read];
