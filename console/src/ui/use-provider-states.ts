/** The list of providers with live states: merges the states of the stream into the data that was read. */
import { useQueryClient } from "@tanstack/react-query";
import type { ProviderState, StreamEvent } from "../api/events.ts";
import { api, type Schemas } from "../api/client.ts";
import { refetchAfterReads } from "./refetch-after-reads.ts";
import { useEvents } from "./use-events.ts";

type Providers = Schemas["Providers"];

const withStates = (list: Providers, states: readonly ProviderState[]): Providers => {
  const byId = new Map(states.map((one) => [one.id, one]));
  return { ...list, data: list.data.map((one) => ({ ...one, ...byId.get(one.id) })) };
};

/** True if a provider was added or removed: the stream lists all. */
const isOther = (list: Providers, states: readonly ProviderState[]): boolean =>
  list.data.length !== states.length ||
  list.data.some((one) => states.every(({ id }) => id !== one.id));

/** Reads all providers, and keeps their states current while the page is visible. There are few: one response lists all. */
export function useProviderStates(enabled = true) {
  const queries = useQueryClient();
  const { queryKey } = api.queryOptions("get", "/admin/v1/providers", {});
  useEvents({
    topics: ["providers"],
    enabled,
    on: (event: StreamEvent) => {
      if (event.type !== "state") return;
      const list = queries.getQueryData<Providers>(queryKey);
      const isRead = queries.getQueryState(queryKey)?.fetchStatus === "fetching";
      if (list !== undefined) queries.setQueryData(queryKey, withStates(list, event.data));
      // A response in flight may be older than this event, even the first.
      if (isRead || (list !== undefined && isOther(list, event.data)))
        void refetchAfterReads(queries, queryKey);
    },
  });
  return api.useQuery("get", "/admin/v1/providers", {}, { enabled });
}
