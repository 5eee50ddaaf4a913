/** Queries of the task pages. The event stream keeps tasks up to date. */
import { api, client } from "../../api/client.ts";
import type { LiveListOptions } from "../../ui/live-list.ts";
import { usePages } from "../../ui/pages.ts";
import { useRenewal } from "../../ui/use-renewal.ts";
import { queryOf, type Filters, type Task } from "./filters.ts";

const pageSize = 50;

type Wanted = Filters & { readonly ws?: string | undefined };

const listKey = ({ view: _view, ...filters }: Wanted) =>
  ["get", "/admin/v1/tasks", filters] as const;

async function readPage(filters: Wanted, cursor?: string, signal?: AbortSignal) {
  const query = { ...queryOf(filters), limit: String(pageSize), cursor };
  return (await client.GET("/admin/v1/tasks", { params: { query }, signal: signal ?? null })).data!;
}

/** The tasks that match the filters, page by page. */
export const useTasks = (filters: Wanted) =>
  usePages({
    key: listKey(filters),
    read: (cursor, signal) => readPage(filters, cursor, signal),
  });

/** The live list: new tasks and their changes. */
export function liveTasks(filters: Wanted): LiveListOptions<Task> {
  // Status and kind are checked here: a task whose status no longer matches leaves the list.
  const { status, kind, ...filter } = queryOf(filters);
  return {
    topic: "tasks",
    filter,
    enabled: true,
    queryKey: listKey(filters),
    readFirst: () => readPage(filters),
    pageSize,
    fits: (row) =>
      (status === undefined || row.status === status) && (kind === undefined || row.kind === kind),
  };
}

/** Keeps a task and its callbacks up to date. */
export function useTaskRenewal(id: string): void {
  const path = { path: { id } };
  useRenewal({
    topics: ["tasks", "deliveries"],
    filter: { task_id: id },
    reads: [
      api.queryOptions("get", "/admin/v1/tasks/{id}", { params: path }).queryKey,
      api.queryOptions("get", "/admin/v1/tasks/{id}/shapes", { params: path }).queryKey,
      api.queryOptions("get", "/admin/v1/webhook_deliveries", {
        params: { query: { task_id: id } },
      }).queryKey,
    ],
  });
}

export const useTask = (id: string) =>
  api.useQuery("get", "/admin/v1/tasks/{id}", { params: { path: { id } } });

export const useShapes = (id: string) =>
  api.useQuery("get", "/admin/v1/tasks/{id}/shapes", { params: { path: { id } } });

/** Callbacks of a task. */
export const useDeliveries = (id: string) =>
  api.useQuery("get", "/admin/v1/webhook_deliveries", { params: { query: { task_id: id } } });

/** Image and video models to choose from. */
export function useModelChoices(): readonly string[] {
  const { data } = api.useQuery("get", "/admin/v1/models", {}, { staleTime: 60_000 });
  return (data?.data ?? [])
    .filter(({ kind }) => kind === "image" || kind === "video")
    .map(({ id }) => id);
}
