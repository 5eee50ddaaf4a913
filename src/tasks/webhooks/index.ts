/** Callbacks: the outbox, its delivery, and the delivery log. Requirements: HOOK; docs/callbacks.md. */
export { createDeliverer, type Deliverer, type DelivererOptions } from "./deliverer.ts";
export { getDelivery, readDeliveries, redeliver, sendTest, type Delivery } from "./deliveries.ts";
export { enqueueCallback } from "./events.ts";
export { createSender } from "./sender.ts";
export { startSpendAlerts } from "./spend-alerts.ts";
