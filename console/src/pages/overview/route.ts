/** `/overview`: spend in a period, by group. Its settings are in the URL. */
import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../ui/lazy-page.ts";
import { shellRoute } from "../root.ts";
import { overviewOf } from "./search.ts";

export const overviewRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/overview",
  validateSearch: overviewOf,
  component: lazyPage(() => import("./page.tsx"), "OverviewPage"),
});
