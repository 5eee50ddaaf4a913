/** Reading again what a page shows, without taking anything from a read that is under way. */
import type { Query, QueryClient, QueryKey } from "@tanstack/react-query";

/** Waits until nothing of a query is read any more. */
async function rest(query: Query, ended?: Promise<unknown>): Promise<void> {
  const { promise, state } = query;
  if (state.fetchStatus === "idle" || promise === undefined || promise === ended) return;
  await promise.catch(() => undefined);
  await rest(query, promise);
}

/**
 * Reads one query again once nothing of it is read any more: a next page that was asked for is not thrown away for it, and what is
 * under way may have begun before what is new was written. Resolves when it is read, or has failed.
 */
export async function readAgain(queries: QueryClient, queryKey: QueryKey): Promise<void> {
  const query = queries.getQueryCache().find({ queryKey });
  if (query !== undefined) await rest(query);
  await queries.invalidateQueries({ queryKey, exact: true }, { cancelRefetch: false });
}
