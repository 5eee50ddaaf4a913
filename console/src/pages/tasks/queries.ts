/** What the pages of tasks ask for. While something is under way they ask again. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { api, client } from "../../api/client.ts";
import { isUnderWay, queryOf, type Filters } from "./filters.ts";

const pageSize = "50";
const againMs = 3_000;

/** The tasks that fit the filters, a page at a time. */
export const useTasks = (filters: Filters & { readonly ws?: string | undefined }) =>
  useInfiniteQuery({
    queryKey: ["get", "/admin/v1/tasks", filters],
    queryFn: async ({ pageParam, signal }) => {
      const query = { ...queryOf(filters), limit: pageSize, cursor: pageParam };
      return (await client.GET("/admin/v1/tasks", { params: { query }, signal })).data!;
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
    // Only the first page: what is under way is new.
    refetchInterval: ({ state: { data } }) =>
      data?.pages.length === 1 && data.pages[0]!.data.some(isUnderWay) ? againMs : false,
  });

export const useTask = (id: string) =>
  api.useQuery(
    "get",
    "/admin/v1/tasks/{id}",
    { params: { path: { id } } },
    {
      refetchInterval: ({ state: { data } }) =>
        data !== undefined && isUnderWay(data) ? againMs : false,
    },
  );

export const useShapes = (id: string) =>
  api.useQuery("get", "/admin/v1/tasks/{id}/shapes", { params: { path: { id } } });

/** Callbacks of a task; those that are still to be sent are looked for again. */
export const useDeliveries = (id: string) =>
  api.useQuery(
    "get",
    "/admin/v1/webhook_deliveries",
    { params: { query: { task_id: id } } },
    {
      refetchInterval: ({ state: { data } }) =>
        data?.data.some(({ status }) => status === "pending") ? againMs : false,
    },
  );

/** Keys to choose from, of those the reader sees. */
export function useKeyChoices(ws: string | undefined) {
  const query = { limit: "100", ...(ws !== undefined && { workspace_id: ws }) };
  const { data } = api.useQuery("get", "/admin/v1/keys", { params: { query } });
  return (data?.data ?? []).map(({ id, name, key_last4: end }) => ({
    value: id,
    label: `${name} (...${end})`,
  }));
}

/** Models of pictures and videos to choose from. */
export function useModelChoices(): readonly string[] {
  const { data } = api.useQuery("get", "/admin/v1/models", {}, { staleTime: 60_000 });
  return (data?.data ?? [])
    .filter(({ kind }) => kind === "image" || kind === "video")
    .map(({ id }) => id);
}
