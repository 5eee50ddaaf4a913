/** What the log page asks for. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { client, type Schemas } from "../../api/client.ts";
import { inPeriod, type Filters } from "./filters.ts";

export type Row = Schemas["RequestRows"]["data"][number];

const pageSize = "100";

/** The query of a page; what is undefined is not sent. */
const queryOf = (
  { ws, key, member, model, provider, status, from, to }: Filters,
  cursor: string | undefined,
) => ({
  view: "list" as const,
  limit: pageSize,
  workspace_id: ws,
  key_id: key,
  model,
  provider,
  status,
  member_id: member,
  from,
  to,
  cursor,
});

/** The rows that fit the filters, a page at a time. */
export const useRows = (filters: Filters) =>
  useInfiniteQuery({
    queryKey: ["get", "/admin/v1/requests", filters],
    queryFn: async ({ pageParam, signal }) => {
      const params = { query: queryOf(inPeriod(filters), pageParam) };
      return (await client.GET("/admin/v1/requests", { params, signal })).data!;
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  });
