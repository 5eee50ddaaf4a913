/** `/keys`: the keys the reader may see. Filters are in the URL. */
import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../ui/lazy-page.ts";
import { shellRoute } from "../root.ts";
import { filtersOf } from "./filters.ts";

export const keysRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/keys",
  validateSearch: filtersOf,
  component: lazyPage(() => import("./page.tsx"), "KeysPage"),
});
