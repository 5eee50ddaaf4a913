/** `/overview`: what was spent in a period, on what and by whom. What is shown is in the address. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../root.ts";
import { overviewOf } from "./search.ts";

export const overviewRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/overview",
  validateSearch: overviewOf,
  component: lazyRouteComponent(() => import("./page.tsx"), "OverviewPage"),
});
