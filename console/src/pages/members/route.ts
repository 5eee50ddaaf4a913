/** `/settings/members`. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../root.ts";

export const membersRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/settings/members",
  component: lazyRouteComponent(() => import("./page.tsx"), "MembersPage"),
});
