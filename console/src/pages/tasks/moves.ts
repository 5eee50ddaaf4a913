/** What can be done with tasks and their callbacks. */
import { client } from "../../api/client.ts";
import { touched } from "../../api/keys.ts";
import { useChange } from "../../ui/change.ts";

/** By the rule that holds for its caller: a vendor that does not confirm leaves it running. */
export const useCancel = (id: string) =>
  useChange({
    send: async () =>
      (await client.POST("/admin/v1/tasks/{id}/cancel", { params: { path: { id } }, body: {} }))
        .data!,
    touches: touched.task,
    said: "The task is canceled.",
  });

/** The same event once more, with its tries from the beginning. */
export const useRedeliver = () =>
  useChange({
    send: async (id: string) =>
      (
        await client.POST("/admin/v1/webhook_deliveries/{id}/redeliver", {
          params: { path: { id } },
          body: {},
        })
      ).data!,
    touches: touched.delivery,
    said: "The callback is sent again.",
  });
