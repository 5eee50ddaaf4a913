/** What the page of callbacks asks for. */
import { api, client, type Schemas } from "../../api/client.ts";
import { useRenewal } from "../../ui/use-renewal.ts";

export type Workspace = Schemas["Workspace"];
export type Signing = Schemas["SigningSecret"];
export type Delivery = Schemas["WebhookDelivery"];

export const useSigning = (id: string) =>
  api.useQuery("get", "/admin/v1/workspaces/{id}/signing_secret", { params: { path: { id } } });

/** The last deliveries, as they come and go on. */
export function useDeliveries(id: string) {
  const init = { params: { query: { workspace_id: id, limit: "20" } } };
  useRenewal({
    topics: ["deliveries"],
    filter: { workspace_id: id },
    reads: [api.queryOptions("get", "/admin/v1/webhook_deliveries", init).queryKey],
  });
  return api.useQuery("get", "/admin/v1/webhook_deliveries", init);
}

/** Switches callbacks on or off. */
export const enable = async (
  id: string,
  enabled: boolean,
  header: { "If-Match"?: string } = {},
): Promise<Signing> =>
  (
    await client.PATCH("/admin/v1/workspaces/{id}/signing_secret", {
      params: { path: { id }, header },
      body: { enabled },
    })
  ).data!;
