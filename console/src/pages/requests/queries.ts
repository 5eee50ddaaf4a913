/** Queries of the log page. */
import { client, type Schemas } from "../../api/client.ts";
import { usePages } from "../../ui/pages.ts";
import { inPeriod, queryOf, type Filters } from "./filters.ts";

export type Page = Schemas["RequestRows"];
export type Row = Page["data"][number];

export const listKey = (filters: Filters) => ["get", "/admin/v1/requests", filters] as const;

/** Reads a page of matching rows. */
export async function readPage(
  filters: Filters,
  cursor?: string,
  signal?: AbortSignal,
): Promise<Page> {
  const params = { query: queryOf(inPeriod(filters), cursor) };
  return (await client.GET("/admin/v1/requests", { params, signal: signal ?? null })).data!;
}

/** The rows that match the filters, page by page. A live list is not read again. */
export const useRows = (filters: Filters, isLive: boolean) =>
  usePages({
    key: listKey(filters),
    read: (cursor, signal) => readPage(filters, cursor, signal),
    isLive,
  });
