/** Refetches queries without disturbing a read in flight. */
import type { Query, QueryClient, QueryKey } from "@tanstack/react-query";

/** Waits until no read of a query is in flight. */
async function untilIdle(query: Query, ended?: Promise<unknown>): Promise<void> {
  const { promise, state } = query;
  if (state.fetchStatus === "idle" || promise === undefined || promise === ended) return;
  await promise.catch(() => undefined);
  await untilIdle(query, promise);
}

/**
 * Refetches a query once no read of it is in flight. A requested next page is thus not discarded, and a read in flight may be older
 * than the new data. Resolves when the read ends or fails.
 */
export async function refetchAfterReads(queries: QueryClient, queryKey: QueryKey): Promise<void> {
  const query = queries.getQueryCache().find({ queryKey });
  if (query !== undefined) await untilIdle(query);
  const failed = query?.state.data === undefined ? query?.state.error : undefined;
  const read = queries.invalidateQueries({ queryKey, exact: true }, { cancelRefetch: false });
  // A new read clears the error of a query without data. With an event each second the reader would never see it.
  if (failed != null) query?.setState({ status: "error", error: failed });
  await read;
}
