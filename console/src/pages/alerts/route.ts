/** `/settings/alerts`. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../root.ts";

export const alertsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/settings/alerts",
  component: lazyRouteComponent(() => import("./page.tsx"), "AlertsPage"),
});
