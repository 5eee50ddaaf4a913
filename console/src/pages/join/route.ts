/** `/join#token`: accepts an invitation. The token is after the `#`, which browsers do not send, so no log has it. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "../root.ts";

export const joinRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/join",
  component: lazyRouteComponent(() => import("./page.tsx"), "JoinPage"),
});
