/** `/account`: what is the reader's own. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../root.ts";

export const accountRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/account",
  component: lazyRouteComponent(() => import("./page.tsx"), "AccountPage"),
});
