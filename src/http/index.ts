/** The HTTP surface of the gateway. */
export { createApp } from "./app.ts";
export { createMetrics, type JoinMetrics, type Metrics } from "./operation/metrics.ts";
export { uploadBudget } from "./forms/uploads.ts";
export type { HttpServices, Readiness } from "./services.ts";
export { createTlsTerminator } from "./front/secure.ts";
export { listenOnAll, type Place } from "./front/listeners.ts";
export { leaveConnections, stopServer } from "./front/stop-server.ts";
export { startMetricsServer, type MetricsAccess } from "./operation/metrics-routes.ts";
export type { AdminServices } from "./services.ts";
export type { DirectCall } from "./admin/index.ts";
