/** Callbacks: the outbox, its delivery, and the delivery log. Spec: "Task callbacks (webhooks)"; docs/callbacks.md. */
export { createDeliverer, type Deliverer, type DelivererOptions } from "./deliverer.ts";
export {
  getDelivery,
  listDeliveries,
  redeliver,
  sendTest,
  type Delivery,
  type DeliveryTry,
} from "./deliveries.ts";
export { enqueueCallback, type Callback, type CallbackType } from "./events.ts";
export { createSender, type SendCallback } from "./sender.ts";
export type { CallbackPoint } from "./try-once.ts";
