/** Actions on tasks and their callbacks. */
import { client } from "../../api/client.ts";
import { invalidatedPaths } from "../../api/invalidation.ts";
import { useChange } from "../../ui/change.ts";

/** Cancels under the caller's rules: if the vendor does not confirm, the task keeps running. */
export const useCancel = (id: string) =>
  useChange({
    send: async () =>
      (await client.POST("/admin/v1/tasks/{id}/cancel", { params: { path: { id } }, body: {} }))
        .data!,
    invalidates: invalidatedPaths.task,
    success: "The task is canceled.",
  });

/** Sends the same event again, with a new series of attempts. */
export const useRedeliver = () =>
  useChange({
    send: async (id: string) =>
      (
        await client.POST("/admin/v1/webhook_deliveries/{id}/redeliver", {
          params: { path: { id } },
          body: {},
        })
      ).data!,
    invalidates: invalidatedPaths.delivery,
    success: "The callback is sent again.",
  });
