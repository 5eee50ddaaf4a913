/** What the list of keys asks for. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { client, type Schemas } from "../../api/client.ts";
import { statusOf, type Filters } from "./filters.ts";

export type Key = Schemas["KeyRecords"]["data"][number];

const pageSize = "100";

/** The keys that fit the filters, a page at a time. */
export const useKeys = (filters: Filters) =>
  useInfiniteQuery({
    queryKey: ["get", "/admin/v1/keys", filters, "pages"],
    queryFn: async ({ pageParam: cursor, signal }) => {
      const query = {
        limit: pageSize,
        workspace_id: filters.ws,
        created_by: filters.owner,
        status: statusOf(filters),
        cursor,
      };
      return (await client.GET("/admin/v1/keys", { params: { query }, signal })).data!;
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  });
