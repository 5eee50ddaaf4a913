/** The HTTP surface of the gateway. */
export { createApp } from "./app.ts";
export { createMetrics } from "./metrics.ts";
export type { AdminServices } from "./admin/index.ts";
