/** `/reset#token`: a new password by a link. The token is behind the `#`, which no browser sends, so that no log has it. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "../root.ts";

export const resetRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/reset",
  component: lazyRouteComponent(() => import("./page.tsx"), "ResetPage"),
});
