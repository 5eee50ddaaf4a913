/** `/requests/:id`: one call, explained. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../root.ts";

export const requestRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/requests/$id",
  component: lazyRouteComponent(() => import("./page.tsx"), "RequestPage"),
});
