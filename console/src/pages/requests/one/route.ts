/** `/requests/:id`: one call, explained. The URL has the parameters of its list. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../root.ts";
import { listOf } from "../filters.ts";

export const requestRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/requests/$id",
  validateSearch: listOf,
  component: lazyRouteComponent(() => import("./page.tsx"), "RequestPage"),
});
