/** `/overview`: spend in a period, by group. Its settings are in the URL. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../root.ts";
import { overviewOf } from "./search.ts";

export const overviewRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/overview",
  validateSearch: overviewOf,
  component: lazyRouteComponent(() => import("./page.tsx"), "OverviewPage"),
});
