/** Queries of the start page: the reader's keys, models, and the first call. */
import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, client, type Schemas } from "../../api/client.ts";
import { useRenewal } from "../../ui/use-renewal.ts";

export type Key = Schemas["KeyRecords"]["data"][number];

/** Active keys that the reader created, newest first. */
export function useOwnKeys(userId: string | null | undefined, ws: string | undefined) {
  const query = {
    status: "active" as const,
    limit: "100",
    ...(userId != null && { created_by: userId }),
    ...(ws !== undefined && { workspace_id: ws }),
  };
  const enabled = userId !== undefined;
  return api.useQuery("get", "/admin/v1/keys", { params: { query } }, { enabled });
}

/** All models, each with whether the key may call it: its workspace and organization may narrow its own allowlist. */
export const useModels = (keyId: string) =>
  api.useQuery(
    "get",
    "/admin/v1/models",
    { params: { query: { key_id: keyId } } },
    { staleTime: 60_000, placeholderData: keepPreviousData },
  );

/** The text models that the key may call. */
export const callableOf = (models: Schemas["ConfiguredModels"]["data"]): readonly string[] =>
  models
    .filter(({ kind, in_scope: isAllowed }) => kind === "text" && isAllowed)
    .map(({ id }) => id);

/** Creates a first key. */
export function useCreateKey() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (workspaceId: string) =>
      client.POST("/admin/v1/keys", { body: { workspace_id: workspaceId, name: "first" } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["get", "/admin/v1/keys"] }),
  });
}

/**
 * The newest call of a key, kept up to date. It is read again on each event, because a response in flight may be older than the event.
 */
export function useLastCall(keyId: string) {
  const params = { query: { view: "list" as const, limit: "1", key_id: keyId } };
  const options = api.queryOptions(
    "get",
    "/admin/v1/requests",
    { params },
    { staleTime: Infinity },
  );
  useRenewal({ topics: ["requests"], filter: { key_id: keyId }, reads: [options.queryKey] });
  return useQuery(options).data?.data[0];
}
