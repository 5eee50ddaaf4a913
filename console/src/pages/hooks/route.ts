/** `/settings/hooks`: the operator's own checks of calls, and their state. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../root.ts";

export const hooksRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/settings/hooks",
  component: lazyRouteComponent(() => import("./page.tsx"), "HooksPage"),
});
