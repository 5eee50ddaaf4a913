/** A list of the API that is read a page at a time. */
import {
  hashKey,
  keepPreviousData,
  useInfiniteQuery,
  type InfiniteData,
  type QueryKey,
} from "@tanstack/react-query";
import { useEffect, useEffectEvent, useState } from "react";

/** What the end of a list knows of its next page. */
export interface NextPage {
  readonly hasNextPage: boolean;
  /** It is read, or will be as soon as the list is. */
  readonly isFetchingNextPage: boolean;
  /** Why the last one that was asked for did not come. */
  readonly nextPageError: Error | null;
  /** Asks for it: it comes, whatever else is read of the list meanwhile. */
  readonly fetchNextPage: () => void;
}

export interface Paged<Page> extends NextPage {
  readonly data: InfiniteData<Page> | undefined;
  /** Why the list itself is not shown, or not as it is now. */
  readonly error: Error | null;
  readonly refetch: () => unknown;
}

interface UsePagesOptions<Page> {
  /** Of the query: method, path, and what the list is of. */
  readonly key: QueryKey;
  readonly read: (cursor: string | undefined, signal: AbortSignal) => Promise<Page>;
  readonly enabled?: boolean;
  /** It changes by what is written into it, and is not read again by itself. */
  readonly isLive?: boolean;
  /** The list before stays while another one is read. */
  readonly isKept?: boolean;
}

/** The pages that were asked for so far, and how to ask for the next one. */
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
 * Asking for the page behind those that are there. A read of the whole list is not broken off for it, and where one breaks it off
 * it is asked for once more: the library alone would forget it.
 */
function useNextPage(query: Asking, list: string) {
  const { data, error, isFetching, isFetchingNextPage, hasNextPage, fetchNextPage } = query;
  const count = data?.pages.length ?? 0;
  const [asked, setAsked] = useState<{ readonly list: string; readonly behind: number }>();
  const isOpen = asked?.list === list && asked.behind === count && hasNextPage;
  const isStuck = error !== null && !isFetching;
  // It is there, the list is another one, or what failed is left to the reader.
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

/** Asks for the next page by itself while the end of the list is near. One that did not come is left to the reader, who is told. */
export function useNextSoon(next: NextPage | undefined, isNear: boolean): void {
  const isWanted =
    isNear && next?.hasNextPage === true && !next.isFetchingNextPage && next.nextPageError === null;
  const ask = useEffectEvent(() => next?.fetchNextPage());
  useEffect(() => {
    if (isWanted) ask();
  });
}
