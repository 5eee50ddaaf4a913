/** Queries of the callbacks page. */
import { api, client, type Schemas } from "../../api/client.ts";
import { usePages } from "../../ui/pages.ts";
import { useRenewal } from "../../ui/use-renewal.ts";
import type { Status } from "./answers.ts";

export type Workspace = Schemas["Workspace"];
export type Signing = Schemas["SigningSecret"];
export type Delivery = Schemas["WebhookDelivery"];

export const useSigning = (id: string) =>
  api.useQuery("get", "/admin/v1/workspaces/{id}/signing_secret", { params: { path: { id } } });

/** Deliveries, newest first, kept up to date by the event stream. */
export function useDeliveries(id: string, status: Status | undefined) {
  const key = ["get", "/admin/v1/webhook_deliveries", id, status];
  useRenewal({ topics: ["deliveries"], filter: { workspace_id: id }, reads: [key] });
  return usePages({
    key,
    async read(cursor, signal) {
      const query = { workspace_id: id, status, limit: "20", cursor };
      return (await client.GET("/admin/v1/webhook_deliveries", { params: { query }, signal }))
        .data!;
    },
    isKept: true,
  });
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
