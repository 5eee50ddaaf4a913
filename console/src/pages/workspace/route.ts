/** `/settings/workspaces/{id}`. */
import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../ui/lazy-page.ts";
import { shellRoute } from "../root.ts";

export const workspaceRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/settings/workspaces/$id",
  component: lazyPage(() => import("./page.tsx"), "WorkspacePage"),
});
