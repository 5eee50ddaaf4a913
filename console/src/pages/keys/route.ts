/** `/keys`: the keys the reader may see. Filters are in the URL. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../root.ts";
import { filtersOf } from "./filters.ts";

export const keysRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/keys",
  validateSearch: filtersOf,
  component: lazyRouteComponent(() => import("./page.tsx"), "KeysPage"),
});
