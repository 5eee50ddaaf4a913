/** `/start`: guides to a first call. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { pick } from "../../base/search.ts";
import { shellRoute } from "../root.ts";

export const startRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/start",
  validateSearch: (search: Record<string, unknown>) => pick(search, ["model"]),
  component: lazyRouteComponent(() => import("./page.tsx"), "StartPage"),
});
