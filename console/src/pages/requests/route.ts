/** `/requests`: the log. Its filters are in the URL. */
import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../ui/lazy-page.ts";
import { shellRoute } from "../root.ts";
import { filtersOf } from "./filters.ts";

export const requestsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/requests",
  validateSearch: filtersOf,
  component: lazyPage(() => import("./page.tsx"), "RequestsPage"),
});
