/** Reads a list of the API page by page. */
import {
  hashKey,
  keepPreviousData,
  useInfiniteQuery,
  type InfiniteData,
  type QueryKey,
} from "@tanstack/react-query";
import { useEffect, useEffectEvent, useState } from "react";

/** The state of a list's next page. */
export interface NextPage {
  readonly hasNextPage: boolean;
  /** The page is being read, or will be once the list is. */
  readonly isFetchingNextPage: boolean;
  /** The error of the last requested page. */
  readonly nextPageError: Error | null;
  /** Requests the next page, which comes even if the list is read again meanwhile. */
  readonly fetchNextPage: () => void;
}

export interface Paged<Page> extends NextPage {
  readonly data: InfiniteData<Page> | undefined;
  /** Why the list is not shown, or not in its current state. */
  readonly error: Error | null;
  readonly refetch: () => unknown;
}

interface UsePagesOptions<Page> {
  /** The query key: method, path, and the subject of the list. */
  readonly key: QueryKey;
  readonly read: (cursor: string | undefined, signal: AbortSignal) => Promise<Page>;
  readonly enabled?: boolean;
  /** Stream events update the list; it is not read again by itself. */
  readonly isLive?: boolean;
  /** Keeps the previous list while another is read. */
  readonly isKept?: boolean;
}

/** The pages read so far, and a function to request the next one. */
export function usePages<Page extends { readonly next_cursor: string | null }>(
  options: UsePagesOptions<Page>,
): Paged<Page> {
  const { key, read, enabled = true, isLive = false, isKept = false } = options;
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => read(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
    enabled,
    ...(isLive && { staleTime: Infinity }),
    ...(isKept && { placeholderData: keepPreviousData }),
  });
  const { data, error, isFetching, isFetchNextPageError, hasNextPage, refetch } = query;
  const next = useNextPage(query, hashKey(key));
  return {
    data,
    error: isFetchNextPageError || (isFetching && data !== undefined) ? null : error,
    hasNextPage,
    nextPageError: isFetchNextPageError && !isFetching ? error : null,
    refetch,
    ...next,
  };
}

interface Asking {
  readonly data: InfiniteData<unknown> | undefined;
  readonly error: Error | null;
  readonly isFetching: boolean;
  readonly isFetchingNextPage: boolean;
  readonly hasNextPage: boolean;
  readonly fetchNextPage: (options: { cancelRefetch: boolean }) => unknown;
}

/**
 * Requests the page after the loaded ones. It does not cancel a read of the whole list. If such a read cancels the page, it is
 * requested again: the library would forget it.
 */
function useNextPage(query: Asking, list: string) {
  const { data, error, isFetching, isFetchingNextPage, hasNextPage, fetchNextPage } = query;
  const count = data?.pages.length ?? 0;
  const [asked, setAsked] = useState<{ readonly list: string; readonly behind: number }>();
  const isOpen = asked?.list === list && asked.behind === count && hasNextPage;
  const isStuck = error !== null && !isFetching;
  // The page arrived, the list changed, or a failure is left to the reader.
  if (asked !== undefined && (!isOpen || isStuck)) setAsked(undefined);
  useEffect(() => {
    if (isOpen && !isFetching && !isStuck) void fetchNextPage({ cancelRefetch: false });
  }, [isOpen, isFetching, isStuck, fetchNextPage]);
  return {
    isFetchingNextPage: isFetchingNextPage || (isOpen && !isStuck),
    fetchNextPage: () => {
      setAsked({ list, behind: count });
      if (isStuck) void fetchNextPage({ cancelRefetch: false });
    },
  };
}

/** Requests the next page near the end of the list. After a failure the reader is told, and must retry. */
export function useNextSoon(next: NextPage | undefined, isNear: boolean): void {
  const isWanted =
    isNear && next?.hasNextPage === true && !next.isFetchingNextPage && next.nextPageError === null;
  const ask = useEffectEvent(() => next?.fetchNextPage());
  useEffect(() => {
    if (isWanted) ask();
  });
}
