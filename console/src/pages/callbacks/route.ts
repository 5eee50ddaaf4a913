/** `/settings/callbacks`. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../root.ts";

export const callbacksRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/settings/callbacks",
  component: lazyRouteComponent(() => import("./page.tsx"), "CallbacksPage"),
});
