/** `/models`, `/models/:id` and `/models/compare`: models with their parameters, prices and providers. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { pick } from "../../base/search.ts";
import { shellRoute } from "../root.ts";
import { filtersOf } from "./filters.ts";

const modelsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/models",
  validateSearch: filtersOf,
  component: lazyRouteComponent(() => import("./page.tsx"), "ModelsPage"),
});

const compareRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/models/compare",
  validateSearch: (search: Record<string, unknown>) => pick(search, ["ids"]),
  component: lazyRouteComponent(() => import("./compare.tsx"), "ComparePage"),
});

/** An id is a vendor and a name, which may contain slashes. */
const modelRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/models/$vendor/$",
  component: lazyRouteComponent(() => import("./one.tsx"), "ModelPage"),
});

export const modelRoutes = [modelsRoute, compareRoute, modelRoute] as const;
