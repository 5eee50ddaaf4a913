/** Reads a whole list page after page, up to a bound. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect } from "react";

/** Rows per request, as text for a URL. */
export const pageSize = "100";

export interface AllPages<Row> {
  /** Undefined until all rows are read. */
  readonly rows: readonly Row[] | undefined;
  readonly error: Error | null;
  /** There are more rows than are read. */
  readonly isCut: boolean;
  readonly refetch: () => unknown;
}

interface AllPagesOptions<Row> {
  /** The query key: method, path, and the subject of the list. */
  readonly key: readonly unknown[];
  readonly pagesMax: number;
  readonly read: (
    cursor: string | undefined,
    signal: AbortSignal,
  ) => Promise<{ readonly data: readonly Row[]; readonly next_cursor: string | null }>;
}

/** Reads page after page until the end or `pagesMax`. */
export function useAllPages<Row>({ key, pagesMax, read }: AllPagesOptions<Row>): AllPages<Row> {
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => read(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  });
  const { hasNextPage, isFetching, fetchNextPage, data, error, refetch } = query;
  const count = data?.pages.length ?? 0;
  const goesOn = hasNextPage && count < pagesMax;
  useEffect(() => {
    if (goesOn && !isFetching && error === null) void fetchNextPage();
  }, [goesOn, isFetching, error, fetchNextPage]);
  return {
    rows: goesOn ? undefined : data?.pages.flatMap((page) => page.data),
    error,
    isCut: hasNextPage && count >= pagesMax,
    refetch,
  };
}
