/** What the log page asks for. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { client, type Schemas } from "../../api/client.ts";
import { inPeriod, queryOf, type Filters } from "./filters.ts";

export type Row = Schemas["RequestRows"]["data"][number];

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
