/** `/reset#token`: a new password by link. The token is after the `#`, which browsers do not send, so no log has it. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "../root.ts";

export const resetRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/reset",
  component: lazyRouteComponent(() => import("./page.tsx"), "ResetPage"),
});
