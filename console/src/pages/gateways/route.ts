/** `/settings/gateways`: the running gateways. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../root.ts";

export const gatewaysRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/settings/gateways",
  component: lazyRouteComponent(() => import("./page.tsx"), "GatewaysPage"),
});
