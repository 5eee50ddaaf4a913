/** `/models`, `/models/:id` and `/models/compare`: models with their parameters, prices and providers. */
import { createRoute } from "@tanstack/react-router";
import { pick } from "../../base/search.ts";
import { lazyPage } from "../../ui/lazy-page.ts";
import { shellRoute } from "../root.ts";
import { filtersOf } from "./filters.ts";

const modelsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/models",
  validateSearch: filtersOf,
  component: lazyPage(() => import("./page.tsx"), "ModelsPage"),
});

const compareRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/models/compare",
  validateSearch: (search: Record<string, unknown>) => pick(search, ["ids"]),
  component: lazyPage(() => import("./compare.tsx"), "ComparePage"),
});

/** An id is a vendor and a name, which may contain slashes. */
const modelRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/models/$vendor/$",
  component: lazyPage(() => import("./one.tsx"), "ModelPage"),
});

export const modelRoutes = [modelsRoute, compareRoute, modelRoute] as const;
