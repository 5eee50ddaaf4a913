/** What the page of callbacks asks for. */
import { api, client, type Schemas } from "../../api/client.ts";

export type Workspace = Schemas["Workspace"];
export type Signing = Schemas["SigningSecret"];
export type Delivery = Schemas["WebhookDelivery"];

export const useSigning = (id: string) =>
  api.useQuery("get", "/admin/v1/workspaces/{id}/signing_secret", { params: { path: { id } } });

/** The last deliveries, looked for again while one of them is still to come. */
export const useDeliveries = (id: string) =>
  api.useQuery(
    "get",
    "/admin/v1/webhook_deliveries",
    { params: { query: { workspace_id: id, limit: "20" } } },
    {
      refetchInterval: ({ state }) =>
        state.data?.data.some(({ status }) => status === "pending") ? 2_000 : false,
    },
  );

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
