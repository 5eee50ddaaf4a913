/** `/settings/workspaces/{id}`. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../root.ts";

export const workspaceRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/settings/workspaces/$id",
  component: lazyRouteComponent(() => import("./page.tsx"), "WorkspacePage"),
});
