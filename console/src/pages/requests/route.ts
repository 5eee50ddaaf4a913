/** `/requests`: the log. Its filters are in the URL. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../root.ts";
import { filtersOf } from "./filters.ts";

export const requestsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/requests",
  validateSearch: filtersOf,
  component: lazyRouteComponent(() => import("./page.tsx"), "RequestsPage"),
});
