/** A list that is needed whole: its pages are read one after the other, up to a bound. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect } from "react";

/** So many rows are asked for at once, as text for an address. */
export const pageSize = "100";

export interface AllPages<Row> {
  /** Undefined until all of them are there. */
  readonly rows: readonly Row[] | undefined;
  readonly error: Error | null;
  /** There are more than are read. */
  readonly isCut: boolean;
  readonly refetch: () => unknown;
}

interface AllPagesOptions<Row> {
  /** Of the query: method, path, and what the list is of. */
  readonly key: readonly unknown[];
  readonly pagesMax: number;
  readonly read: (
    cursor: string | undefined,
    signal: AbortSignal,
  ) => Promise<{ readonly data: readonly Row[]; readonly next_cursor: string | null }>;
}

/** Reads page after page until the end, or until it is enough. */
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
