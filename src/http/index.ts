/** The HTTP surface of the gateway. */
export { createApp } from "./app.ts";
export { createMetrics } from "./metrics.ts";
export { stopServer } from "./stop-server.ts";
export { startMetricsServer, type MetricsAccess } from "./metrics-routes.ts";
export type { AdminServices } from "./services.ts";
export { adminRoutes, callDirectly, type DirectCall } from "./admin/index.ts";
