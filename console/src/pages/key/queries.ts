/** Queries of a key's page. */
import { useQuery } from "@tanstack/react-query";
import { api, client, type Schemas } from "../../api/client.ts";
import type { Step } from "../../base/steps.ts";
import { keepPreviousFor } from "../../ui/keep-previous.ts";
import { isStillOf, type Period } from "./period.ts";

export type Key = Schemas["KeyRecord"];
type Preview = Schemas["PreviewRoutingRequest"];

const one = (id: string) => ({ params: { path: { id } } });

export const useKey = (id: string) => api.useQuery("get", "/admin/v1/keys/{id}", one(id));

/** Reads the current key, bypassing the query cache. */
export const readKey = async (id: string): Promise<Key> =>
  (await client.GET("/admin/v1/keys/{id}", one(id))).data!;

/** Models with rows of their own: those of the highest cost. One row sums all others. */
const modelsMax = 50;

/**
 * The key's usage by time step and by model, in one request. An open-ended period keeps its numbers until those of the next minute
 * arrive.
 */
export function useUse(id: string, period: Period, step: Step) {
  const { from, to, isOpen, search } = period;
  const query = {
    key_id: id,
    from: from.toISOString(),
    ...(!isOpen && { to: to.toISOString() }),
    granularity: step,
    also_by: "model",
    top: String(modelsMax),
  };
  return api.useQuery(
    "get",
    "/admin/v1/usage",
    { params: { query } },
    {
      staleTime: 30_000,
      // On return in a later minute, the new period is a new query.
      refetchOnWindowFocus: () => isStillOf(period),
      ...keepPreviousFor(JSON.stringify({ id, step, search })),
    },
  );
}

/** The latest changes of the key. */
export const useHistory = (id: string) =>
  api.useQuery("get", "/admin/v1/audit", {
    params: { query: { subject_id: id, limit: "50" } },
  });

/** The plan of a call with this key and the form's settings. A query, although it is a POST: the API stores nothing. */
export const usePreview = (body: Preview | undefined) =>
  useQuery({
    queryKey: ["post", "/admin/v1/routing/preview", body],
    queryFn: async ({ signal }) =>
      (await client.POST("/admin/v1/routing/preview", { body: body!, signal })).data!,
    enabled: body !== undefined,
    placeholderData: (before) => before,
  });
