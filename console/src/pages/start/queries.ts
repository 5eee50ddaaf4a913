/** Queries of the start page: the reader's keys, models, and the first call. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
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

export const useModels = () => api.useQuery("get", "/admin/v1/models", {}, { staleTime: 60_000 });

/** Text models that a key's own allowlist lets it call. */
export function callableBy(
  { model_allowlist: allowed }: Key,
  models: Schemas["ConfiguredModels"]["data"],
): readonly string[] {
  return models
    .filter(({ id, kind }) => kind === "text" && (allowed.length === 0 || allowed.includes(id)))
    .map(({ id }) => id);
}

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
