/** `/start`: how to make a first call. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../root.ts";

export const startRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/start",
  component: lazyRouteComponent(() => import("./page.tsx"), "StartPage"),
});
