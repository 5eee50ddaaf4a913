/** `/join#token`: accepting an invitation. The token is behind the `#`, which no browser sends, so that no log has it. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "../root.ts";

export const joinRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/join",
  component: lazyRouteComponent(() => import("./page.tsx"), "JoinPage"),
});
