/** Queries of the playground: keys, callable models, and ended calls. */
import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";
import { api, client, type Schemas } from "../../api/client.ts";
import { asApiError } from "../../api/errors.ts";
import { callGateway } from "./call.ts";
import type { Domains } from "./parameters.ts";

export type Key = Schemas["KeyRecord"];

/** The default key: the reader's newest active key, else one that they may use. */
export function useFirstKey(ws: string | undefined, userId: string | null | undefined) {
  const query = { status: "active" as const, limit: "1", workspace_id: ws };
  const own = api.useQuery(
    "get",
    "/admin/v1/keys",
    { params: { query: { ...query, created_by: userId ?? undefined } } },
    { enabled: userId != null },
  );
  const hasOwn = userId !== null && (own.data === undefined || own.data.data.length > 0);
  const any = api.useQuery("get", "/admin/v1/keys", { params: { query } }, { enabled: !hasOwn });
  const read = hasOwn ? own : any;
  const { error, refetch } = read;
  return { first: read.data?.data[0], isNone: read.data?.data.length === 0, error, refetch };
}

/** The chosen key if it is active and in this workspace; null if not, undefined while loading. */
export function useChosenKey(
  id: string | null | undefined,
  ws: string | undefined,
): Key | null | undefined {
  const { data, isError } = api.useQuery(
    "get",
    "/admin/v1/keys/{id}",
    { params: { path: { id: id ?? "" } } },
    { enabled: id != null },
  );
  if (id == null || isError) return null;
  if (data === undefined) return undefined;
  return data.status === "active" && (ws === undefined || data.workspace_id === ws) ? data : null;
}

/** A model that a key may call, as `GET /v1/models` lists it for that key. */
export interface Callable {
  readonly id: string;
  readonly endpoints: readonly string[];
  readonly architecture: {
    readonly input_modalities: readonly string[];
    readonly output_modalities: readonly string[];
  };
  readonly supported_parameters: Domains;
}

/** The models that the key can call, by its allowlist and routing and those of higher layers. */
export const useCallable = (keyId: string | undefined) =>
  useQuery({
    queryKey: ["models of a key", keyId],
    enabled: keyId !== undefined,
    staleTime: 60_000,
    retry: false,
    // A draft survives when another key is chosen.
    placeholderData: keepPreviousData,
    async queryFn({ signal }) {
      const response = await callGateway({ keyId: keyId!, path: "/v1/models", signal });
      return ((await response.json()) as { data: Callable[] }).data;
    },
  });

const looks = 20;
const lookMs = 500;

/** The log row of an ended call. It is written a moment later, so the query retries. */
export const rowOf = (id: string) =>
  queryOptions({
    ...api.queryOptions("get", "/admin/v1/requests/{id}", { params: { path: { id } } }),
    staleTime: Infinity,
    retry: (failures, error) => asApiError(error).status === 404 && failures < looks,
    retryDelay: lookMs,
  });

/** The request body of that call, if its workspace stores bodies; null if not. */
export const useStoredBody = (id: string | undefined) =>
  useQuery({
    queryKey: ["what was asked", id],
    enabled: id !== undefined,
    staleTime: Infinity,
    retry: false,
    async queryFn({ signal }) {
      const params = { path: { id: id! } };
      try {
        return (await client.GET("/admin/v1/requests/{id}/body", { params, signal })).data!.request;
      } catch (error) {
        if (asApiError(error).status === 404) return null;
        throw error;
      }
    },
  });

/** The call to resend: already in the log, or not visible to this reader, so there is no retry. */
export const useResentCall = (id: string | undefined) =>
  useQuery({ ...rowOf(id ?? ""), enabled: id !== undefined, retry: false });
