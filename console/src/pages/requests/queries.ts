/** What the log page asks for. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { client, type Schemas } from "../../api/client.ts";
import { inPeriod, queryOf, type Filters } from "./filters.ts";

export type Page = Schemas["RequestRows"];
export type Row = Page["data"][number];

export const listKey = (filters: Filters) => ["get", "/admin/v1/requests", filters] as const;

/** A page of the rows that fit. */
export async function readPage(
  filters: Filters,
  cursor?: string,
  signal?: AbortSignal,
): Promise<Page> {
  const params = { query: queryOf(inPeriod(filters), cursor) };
  return (await client.GET("/admin/v1/requests", { params, signal: signal ?? null })).data!;
}

/** The rows that fit the filters, a page at a time. A list that grows by itself is not read again. */
export const useRows = (filters: Filters, isLive: boolean) =>
  useInfiniteQuery({
    queryKey: listKey(filters),
    queryFn: ({ pageParam, signal }) => readPage(filters, pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
    ...(isLive && { staleTime: Infinity }),
  });
