/** `/settings/workspaces`. */
import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../ui/lazy-page.ts";
import { shellRoute } from "../root.ts";

export const workspacesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/settings/workspaces",
  component: lazyPage(() => import("./page.tsx"), "WorkspacesPage"),
});
