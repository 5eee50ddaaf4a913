/** What a key's page asks for. */
import { useQuery } from "@tanstack/react-query";
import { api, client, type Schemas } from "../../api/client.ts";
import type { Step } from "../../base/steps.ts";
import { asking } from "../../ui/same-question.ts";
import { isStillOf, type Period } from "./period.ts";

export type Key = Schemas["KeyRecord"];
type Preview = Schemas["PreviewRoutingRequest"];

const one = (id: string) => ({ params: { path: { id } } });

export const useKey = (id: string) => api.useQuery("get", "/admin/v1/keys/{id}", one(id));

/** The key as it is now, past what is kept. */
export const readKey = async (id: string): Promise<Key> =>
  (await client.GET("/admin/v1/keys/{id}", one(id))).data!;

/** So many models have rows of their own: those of the highest cost. All others are one row. */
const modelsMax = 50;

/**
 * What the key used in each step of a period, and by model too: one question. A period that ends now goes on; its numbers stay until
 * those of the next minute are there.
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
      // Whoever comes back in another minute asks for the period as it is then.
      refetchOnWindowFocus: () => isStillOf(period),
      ...asking(JSON.stringify({ id, step, search })),
    },
  );
}

/** The last changes of the key. */
export const useHistory = (id: string) =>
  api.useQuery("get", "/admin/v1/audit", {
    params: { query: { subject_id: id, limit: "50" } },
  });

/** The plan that a call of this key would get, with what stands in the form. Asked for as a read: nothing is kept of it. */
export const usePreview = (body: Preview | undefined) =>
  useQuery({
    queryKey: ["post", "/admin/v1/routing/preview", body],
    queryFn: async ({ signal }) =>
      (await client.POST("/admin/v1/routing/preview", { body: body!, signal })).data!,
    enabled: body !== undefined,
    placeholderData: (before) => before,
  });
