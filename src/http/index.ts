/** The HTTP surface of the gateway. */
export { createApp } from "./app.ts";
export { createMetrics } from "./metrics.ts";
export {
  adminPrefix,
  adminRoutes,
  callDirectly,
  type AdminServices,
  type DirectCall,
} from "./admin/index.ts";
