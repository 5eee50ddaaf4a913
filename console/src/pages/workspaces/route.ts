/** `/settings/workspaces`. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../root.ts";

export const workspacesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/settings/workspaces",
  component: lazyRouteComponent(() => import("./page.tsx"), "WorkspacesPage"),
});
